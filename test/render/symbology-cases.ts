/** One case for each symbology, and for each option that changes its bars: what is posted, and what is read. */
import type { Symbology } from '../../src/contract/template.ts';

export interface SymbologyCase {
  readonly name: string;
  readonly symbology: Symbology;
  readonly value: string;
  /** The element's further members. */
  readonly element?: object;
  readonly judge:
    | { readonly by: 'zxing'; readonly format: string; readonly reads: string; readonly addOn?: true }
    | {
        readonly by: 'zint';
        readonly type: string;
        readonly data: string;
        readonly rows: 1 | 2 | 3;
        readonly options?: readonly string[];
      };
}

function read(symbology: Symbology, value: string, format: string, reads = value, element: object = {}) {
  const options = Object.entries(element)
    .filter(([name]) => name !== 'height' && name !== 'hri')
    .map(([name, option]) => `${name}=${String(option)}`);
  const name = [symbology, ...options].join(' ');
  return { name, symbology, value, element, judge: { by: 'zxing', format, reads } } as const;
}

function withAddOn(symbology: Symbology, value: string, format: string, reads: string) {
  const name = `${symbology} +${value.split('+')[1]?.length}`;
  const element = { height: 8, hri: 'below' };
  return { name, symbology, value, element, judge: { by: 'zxing', format, reads, addOn: true } } as const;
}

function compared(symbology: Symbology, value: string, type: string, rows: 1 | 2 | 3, data = value) {
  return { name: symbology, symbology, value, judge: { by: 'zint', type, data, rows } } as const;
}

const bars = { height: 6 };
const digits = { height: 6, hri: 'below' };

export const CASES: readonly SymbologyCase[] = [
  read('code128', 'Platen-123456', 'Code128', undefined, bars),
  read('code128', 'AB12\t', 'Code128', undefined, { ...bars, codeSet: 'A' }),
  read('code128', 'Ab1234', 'Code128', undefined, { ...bars, codeSet: 'B' }),
  read('code128', '00123456', 'Code128', undefined, { ...bars, codeSet: 'C' }),
  read('gs1-128', '(01)04012345678901(10)AB-12', 'Code128', '010401234567890110AB-12', bars),
  read('code39', 'AB-12 %', 'Code39', undefined, bars),
  read('code39', 'AB12', 'Code39', 'AB12O', { ...bars, checkDigit: 'mod43' }),
  read('code39', 'aB!~', 'Code39Ext', undefined, { ...bars, fullAscii: true }),
  read('code39', 'AB12', 'Code39', undefined, { ...bars, ratio: 2.5 }),
  read('code93', 'AB12xy\t^', 'Code93', undefined, bars),
  read('codabar', 'A12-34B', 'Codabar', undefined, bars),
  read('codabar', '1234', 'Codabar', 'A12346A', { ...bars, checkDigit: 'mod16' }),
  read('itf', '00123456', 'ITF', undefined, bars),
  read('itf', '0012345', 'ITF', '00123457', { ...bars, checkDigit: 'mod10', bearer: 'box' }),
  read('itf14', '0401234567890', 'ITF', '04012345678901', bars),
  { ...compared('msi', '0123459', '47', 1), element: bars },
  {
    ...compared('msi', '0123459', '47', 1),
    name: 'msi checkDigit=mod1110',
    element: { ...bars, checkDigit: 'mod1110' },
    judge: { by: 'zint', type: '47', data: '0123459', rows: 1, options: ['--vers=4'] },
  },
  read('ean13', '4006381333931', 'EAN13', undefined, digits),
  withAddOn('ean13', '4006381333931+12', 'EAN13', '400638133393112'),
  withAddOn('ean13', '9780201379624+51299', 'EAN13', '978020137962451299'),
  read('ean8', '1234567', 'EAN8', '12345670', digits),
  withAddOn('ean8', '12345670+12', 'EAN8', '1234567012'),
  // zxing reports UPC as the EAN-13 it is part of.
  read('upca', '012345678905', 'EAN13', '0012345678905', digits),
  withAddOn('upca', '012345678905+12345', 'EAN13', '001234567890512345'),
  read('upce', '123456', 'UPCE', '0012345000065', digits),
  withAddOn('upce', '01234565+12', 'UPCE', '001234500006512'),
  read('databar', '(01)04012345678901', 'DataBarOmni', '0104012345678901'),
  read('databar-truncated', '04012345678901', 'DataBarOmni', '0104012345678901'),
  read('databar-stacked', '(01)04012345678901', 'DataBarStk', '0104012345678901'),
  read('databar-stacked-omni', '(01)04012345678901', 'DataBarStk', '0104012345678901'),
  read('databar-limited', '(01)04012345678901', 'DataBarLtd', '0104012345678901'),
  read('databar-expanded', '(01)04012345678901(10)AB', 'DataBarExp', '010401234567890110AB'),
  read('databar-expanded-stacked', '(01)04012345678901(10)AB12', 'DataBarExpStk', '010401234567890110AB12', {
    columns: 2,
  }),
  read('qr', 'platen.example/ü?日本', 'QRCode'),
  read('micro-qr', 'AB12345', 'MicroQRCode'),
  read('gs1-qr', '(01)04012345678901(10)A%B(21)x', 'QRCode', '010401234567890110A%B\u001d21x'),
  read('datamatrix', 'S/ü-Ω^0042', 'DataMatrix'),
  read('datamatrix', 'S-0042', 'DataMatrix', undefined, { shape: 'rectangle' }),
  read('gs1-datamatrix', '(01)04012345678901(10)AB(21)x', 'DataMatrix', '010401234567890110AB\u001d21x'),
  read('pdf417', 'ü-Ω^0042', 'PDF417', undefined, { columns: 2, ecLevel: 2 }),
  read('micropdf417', 'ü-Ω 0042', 'MicroPDF417', undefined, { columns: 2 }),
  read('aztec', 'Ωü^0042', 'Aztec'),
  read('maxicode', 'Maxi ü 42', 'MaxiCode'),
  read('maxicode', '152382802\u001d840\u001d001\u001dABC', 'MaxiCode', undefined, { mode: 2 }),
  read('leitcode', '2134807501640', 'ITF', '21348075016401', bars),
  read('identcode', '56310243031', 'ITF', '563102430313', bars),
  compared('royal-mail', 'LE28HS9Z', '70', 3),
  compared('kix', '1231FZ13XHS', '90', 3),
  compared('usps-imb', '01234567094987654321', '85', 3),
  compared('postnet', '12345', '40', 2),
  compared('planet', '01234567890', '82', 2),
  compared('japan-post', '6540123789-A-K-Z', '76', 3),
  compared('australia-post', '1139549554', '63', 3, '39549554'),
];
