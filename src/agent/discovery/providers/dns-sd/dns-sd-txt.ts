/**
 * What a printer's DNS-SD TXT record says of it.
 *
 * Source: RFC 6763 §6 (key=value; keys in any case; of two equal keys the first counts), Apple "Bonjour Printing
 * Specification" 1.2.1, PWG 5100.14 (UUID).
 */
import { plainText } from '../../../../../drivers/transports/device-id.ts';
import { believableSerial, type Evidence, languagesOf, uuidOf } from '../../evidence.ts';

const MOST_PAIRS = 100;
const LONGEST_VALUE = 200;

interface PrinterTxt {
  evidence: Evidence;
  /** `rp`: the resource's path (IPP) or queue (LPD), without a slash in front. */
  resource: string;
  /** A Platen service announces this printer, to offer one of its own printers. */
  offered: boolean;
}

/** Never throws. @param pairs the strings of the record, as they came */
export function parseTxt(pairs: readonly Uint8Array[]): PrinterTxt {
  const values = new Map<string, string>();
  for (const pair of pairs.slice(0, MOST_PAIRS)) {
    const text = Buffer.from(pair.buffer, pair.byteOffset, pair.byteLength).toString('utf8');
    const equals = text.indexOf('=');
    const key = text.slice(0, Math.max(0, equals)).toLowerCase();
    const value = plainText(text.slice(equals + 1, equals + 1 + LONGEST_VALUE));
    if (equals > 0 && value !== '' && !values.has(key)) values.set(key, value);
  }
  // `product` is not read: it may name the driver, like `(GPL Ghostscript)`. `ty` is for people, and mostly make and model.
  const make = values.get('usb_mfg') ?? values.get('mfg');
  const called = values.get('usb_mdl') ?? values.get('mdl') ?? values.get('ty');
  // CUPS announces a raw queue with the model `Unknown`.
  const model = called === 'Unknown' ? undefined : called;
  const serial = believableSerial(values.get('usb_sn') ?? values.get('sn'));
  const uuid = uuidOf(values.get('uuid'));
  const resource = (values.get('rp') ?? '').replace(/^\/+/, '');
  const said = [values.get('pdl') ?? '', values.get('usb_cmd') ?? values.get('cmd') ?? ''];
  const languages = languagesOf(said.join(',').split(','));
  return {
    evidence: {
      ...(make !== undefined && { make }),
      ...(model !== undefined && { model }),
      ...(serial !== undefined && { serial }),
      ...(uuid !== undefined && { uuid }),
      ...(languages.length > 0 && { languages }),
    },
    resource,
    offered: values.get('platen') === 'offered',
  };
}
