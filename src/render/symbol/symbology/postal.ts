/** Barcodes of postal services that encode data in the height of their bars. */
import { because, type Reason } from '../../../contract/reason.ts';
import { bwipPostal } from '../bwip.ts';
import {
  type PostalSizes,
  type PostalSymbol,
  type QuietZone,
  requireValue,
  type SymbologyRules,
} from './rules.ts';

function quiet(beside: number, above: number): QuietZone {
  return { unit: 'mm', left: beside, right: beside, top: above, bottom: above };
}

const PITCH_22 = 25.4 / 22;

/** Royal Mail, "Mailmark barcode definition document" and RM4SCC: bars of 0.38 to 0.63 mm, 20 to 24 an inch. */
const ROYAL_MAIL: PostalSizes = { bar: 0.5, pitch: PITCH_22, tracker: 1.27, ascender: 1.88, descender: 1.88 };
/** USPS-B-3200: bars of 0.015 to 0.025 in, 20 to 24 an inch, 0.125 to 0.165 in high. */
const IMB: PostalSizes = { bar: 0.508, pitch: PITCH_22, tracker: 1.22, ascender: 1.23, descender: 1.23 };
/** USPS DMM 708.4: bars of 0.020 in, 22 an inch, 0.125 and 0.050 in high. */
const POSTNET: PostalSizes = { bar: 0.508, pitch: PITCH_22, tracker: 1.27, ascender: 1.905, descender: 0 };
/** Japan Post, customer barcode at 10 point. */
const JAPAN: PostalSizes = { bar: 0.6, pitch: 1.2, tracker: 1.2, ascender: 1.2, descender: 1.2 };
/** Australia Post, "Customer Barcoding Technical Specifications": bars of 0.4 to 0.6 mm, gaps of 0.4 to 0.7. */
const AUSTRALIA: PostalSizes = { bar: 0.5, pitch: 1.1, tracker: 1.3, ascender: 1.85, descender: 1.85 };

function service(
  bcid: string,
  sizes: PostalSizes,
  quietZone: QuietZone,
  pattern: RegExp,
  holds: Reason,
  options: Record<string, string> = {},
) {
  return {
    kind: 'four-state',
    quiet: quietZone,
    options: [],
    encode: (value: string): PostalSymbol => {
      requireValue(value, pattern, holds);
      return { kind: 'postal', bars: bwipPostal(bcid, value, options), sizes };
    },
  } satisfies SymbologyRules;
}

export const POSTAL = {
  'royal-mail': service(
    'royalmail',
    ROYAL_MAIL,
    quiet(2, 2),
    /^[0-9A-Z]{1,50}$/,
    because('alphanumeric-only', { code: 'Royal Mail 4-state' }),
  ),
  kix: service(
    'kix',
    ROYAL_MAIL,
    quiet(2, 2),
    /^[0-9A-Z]{1,50}$/,
    because('alphanumeric-only', { code: 'KIX' }),
  ),
  'usps-imb': service(
    'onecode',
    IMB,
    quiet(3.175, 0.711),
    /^\d[0-4](?:\d{18}|\d{23}|\d{27}|\d{29})$/,
    because('imb-digits', {}),
  ),
  postnet: service(
    'postnet',
    POSTNET,
    quiet(3.175, 1.016),
    /^(?:\d{5}|\d{9}|\d{11})$/,
    because('postnet-digits', {}),
  ),
  planet: service(
    'planet',
    POSTNET,
    quiet(3.175, 1.016),
    /^(?:\d{11}|\d{13})$/,
    because('planet-digits', {}),
  ),
  'japan-post': service('japanpost', JAPAN, quiet(2, 2), /^[0-9A-Z-]{7,20}$/, because('japan-post', {})),
  'australia-post': service(
    'auspost',
    AUSTRALIA,
    quiet(6, 2),
    /^(?:11|45|59|62)\d{8}[0-9A-Za-z #]{0,10}$/,
    because('australia-post', {}),
    { custinfoenc: 'character' },
  ),
} satisfies Readonly<Record<string, SymbologyRules>>;
