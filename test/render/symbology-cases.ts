/** One case for each symbology, and for each option that changes its bars: what is posted, and what is read. */
import type { ReaderOptions } from 'zxing-wasm/reader';
import type { Symbology } from '../../src/contract/template.ts';

export interface SymbologyCase {
  readonly name: string;
  readonly symbology: Symbology;
  readonly value: string;
  /** The element's further members. */
  readonly element?: object;
  readonly judge:
    | {
        readonly by: 'zxing';
        readonly format: string;
        readonly reads: string;
        readonly addOn?: true;
        /** Read as this, where the bars can be read as something else too. */
        readonly only?: NonNullable<ReaderOptions['formats']>[number];
      }
    | {
        readonly by: 'zint';
        readonly type: string;
        readonly data: string;
        /** Of a postal code; 1: of bars; all: of a stacked symbol, as many as it has. */
        readonly rows: 1 | 2 | 3 | 'all';
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

/** zxing has taken the rings in its middle for those of an Aztec rune, which holds a number of three digits. */
function maxicode(value: string, element: object = {}) {
  const one = read('maxicode', value, 'MaxiCode', value, element);
  return { ...one, judge: { ...one.judge, only: 'MaxiCode' } } as const;
}

function withAddOn(symbology: Symbology, value: string, format: string, reads: string) {
  const name = `${symbology} +${value.split('+')[1]?.length}`;
  const element = { height: 8, hri: 'below' };
  return { name, symbology, value, element, judge: { by: 'zxing', format, reads, addOn: true } } as const;
}

/** A composite: zint takes the digits of a GTIN or an EAN apart, and AIs in square brackets. */
function composite(symbology: Symbology, linear: string, type: string, primary: string) {
  const judge = { by: 'zint', type, data: '[99]1234-abcd', rows: 'all' } as const;
  return {
    name: symbology,
    symbology,
    value: `${linear}|(99)1234-abcd`,
    judge: { ...judge, options: [`--primary=${primary}`] },
  } as const;
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
  maxicode('Maxi ü 42'),
  maxicode('152382802\u001d840\u001d001\u001dABC', { mode: 2 }),
  read('leitcode', '2134807501640', 'ITF', '21348075016401', bars),
  read('identcode', '56310243031', 'ITF', '563102430313', bars),
  ...[
    // zint adds two check characters unless it is told otherwise; its wide bars have 2 modules.
    { name: 'code11', value: '0123-45', options: ['--vers=2'] },
    { name: 'code11 checkDigit=mod11', value: '0123-45', options: ['--vers=1'] },
    { name: 'code11 two check characters', value: '0123-456789', options: [] },
  ].map(({ name, value, options }, checks): SymbologyCase => {
    const element = { ...bars, ratio: 2, ...(checks > 0 && { checkDigit: 'mod11' }) };
    return {
      name,
      symbology: 'code11',
      value,
      element,
      judge: { by: 'zint', type: '1', data: value, rows: 1, options },
    };
  }),
  read('telepen', 'Platen 42', 'TelepenAlpha', undefined, bars),
  { ...compared('pharmacode', '117480', '51', 1), element: bars },
  read('pzn', '1234562', 'PZN', '-12345626', bars),
  read('code32', '01234567', 'Code32', 'A012345676', bars),
  read('hibc-code128', 'A123BJC5D6E71', 'Code128', '+A123BJC5D6E71G', bars),
  {
    ...read('hibc-code39', 'A123BJC5D6E71', 'Code39', undefined, bars),
    judge: { by: 'zxing', format: 'Code39', reads: '+A123BJC5D6E71G', only: 'Code39Std' },
  },
  read('hibc-datamatrix', 'A123BJC5D6E71', 'DataMatrix', '+A123BJC5D6E71G'),
  read('hibc-qr', '+A123BJC5D6E71', 'QRCode', '+A123BJC5D6E71G'),
  read('hibc-aztec', 'A123BJC5D6E71', 'Aztec', '+A123BJC5D6E71G'),
  read('rmqr', 'platen ü 42', 'RMQRCode'),
  read('rmqr', 'AB12', 'RMQRCode', undefined, { version: 'R13x77', ecLevel: 'H' }),
  composite('ean13-composite', '2112345678900', '130', '2112345678900'),
  composite('ean8-composite', '02345673', '130', '0234567'),
  composite('upca-composite', '416000336108', '135', '416000336108'),
  composite('upce-composite', '00123457', '136', '00123457'),
  composite('gs1-128-composite', '(01)03612345678904', '131', '[01]03612345678904'),
  composite('databar-composite', '(01)03612345678904', '132', '0361234567890'),
  composite('databar-stacked-composite', '(01)03612345678904', '137', '0361234567890'),
  composite('databar-stacked-omni-composite', '(01)03612345678904', '138', '0361234567890'),
  composite('databar-limited-composite', '(01)03512345678907', '133', '0351234567890'),
  composite(
    'databar-expanded-composite',
    '(01)93712345678904(3103)001234',
    '134',
    '[01]93712345678904[3103]001234',
  ),
  compared('royal-mail', 'LE28HS9Z', '70', 3),
  compared('kix', '1231FZ13XHS', '90', 3),
  compared('usps-imb', '01234567094987654321', '85', 3),
  compared('postnet', '12345', '40', 2),
  compared('planet', '01234567890', '82', 2),
  compared('japan-post', '6540123789-A-K-Z', '76', 3),
  compared('australia-post', '1139549554', '63', 3, '39549554'),
];
