/**
 * What a provider can tell of a printer before anything is sent to the printer.
 *
 * Evidence is only what stays the same from scan to scan; states and counters are asked elsewhere. All of it is a stranger's
 * text. So each text is one line of bounded length, and is never trusted to be unique (see `merge.ts`).
 */
import { z } from 'zod';
import type { DeviceIdentity } from '../../../drivers/device.ts';
import { LANGUAGES } from '../../../drivers/languages/index.ts';
import { parseDeviceId, plainText } from '../../../drivers/transports/device-id.ts';
import { languageId } from '../../contract/format.ts';

const notOurs = z.enum(['cpcl', 'dpl', 'urf', 'jpeg', 'postscript', 'pcl', 'escpos']);

/** Languages that printers say they speak: those that Platen prints in, and others. */
export const deviceLanguage = z.enum([...languageId.options, ...notOurs.options]);
type DeviceLanguage = z.infer<typeof deviceLanguage>;

/** The names of the other languages, like those in `Language.mediaTypes` and `Language.commandSets`. */
const NOT_OURS: Readonly<Record<z.infer<typeof notOurs>, readonly string[]>> = {
  cpcl: ['CPCL'],
  dpl: ['DPL'],
  urf: ['image/urf', 'URF'],
  jpeg: ['image/jpeg', 'JPEG'],
  postscript: ['application/postscript', 'POSTSCRIPT', 'PS'],
  pcl: ['application/vnd.hp-pcl', 'application/pcl', 'PCL', 'PCLXL'],
  escpos: ['ESC/POS', 'ESCPOS'],
};

const line = z.string().min(1).max(200);

export const evidence = z.strictObject({
  /** The device's serial number, as the device writes it. */
  serial: line.exactOptional(),
  /** Lower case, without `urn:uuid:`. If there is a `queue`, this may be the UUID of the queue and not of the device. */
  uuid: z.guid().exactOptional(),
  /** IEEE 1284 make, model and serial number in one spelling: `MFG:…;MDL:…;SN:…;` */
  deviceId: z.string().max(700).exactOptional(),
  /** `00:07:4d:41:08:bd` */
  mac: z
    .string()
    .regex(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/)
    .exactOptional(),
  /** The queue of a print server that leads to the device, as its transport names it: `host/name`. */
  queue: z.string().max(500).exactOptional(),
  /** The address that the queue sends to: another address of the same device. */
  deviceUri: z.string().max(500).exactOptional(),
  make: line.exactOptional(),
  model: line.exactOptional(),
  /** What the printer says it speaks; empty or absent: it does not say, or names nothing that is known here. */
  languages: z.array(deviceLanguage).max(deviceLanguage.options.length).exactOptional(),
  dpi: z.number().min(50).max(2_400).exactOptional(),
});
export type Evidence = z.infer<typeof evidence>;

/** MIME types in lower case, and IEEE 1284 `CMD` names in upper case. */
const LANGUAGE_NAMES: ReadonlyMap<string, DeviceLanguage> = new Map([
  ...languageId.options.flatMap((id) =>
    named(id, [...LANGUAGES[id].mediaTypes, ...LANGUAGES[id].commandSets]),
  ),
  ...notOurs.options.flatMap((id) => named(id, NOT_OURS[id])),
]);

function named(id: DeviceLanguage, names: readonly string[]) {
  return names.map((name) => [name, id] as const);
}

/** The languages that these MIME types or `CMD` names stand for, in the same order. Unknown names are left out. */
export function languagesOf(names: readonly string[]): DeviceLanguage[] {
  const known = names.flatMap((name) => {
    const plain = plainText(name);
    const language = LANGUAGE_NAMES.get(plain.includes('/') ? plain.toLowerCase() : plain.toUpperCase());
    return language ?? LANGUAGE_NAMES.get(plain.toUpperCase()) ?? [];
  });
  return [...new Set(known)];
}

/** A serial number that can tell two devices apart; undefined for the placeholders that makers use instead of one. */
export function believableSerial(text: string | undefined): string | undefined {
  const serial = plainText(text ?? '').replace(/^"(.*)"$/, '$1');
  if (serial.length < 4 || serial.length > 100) return undefined;
  // One character over and over; a keyboard's row; "none" in words.
  if (/^(.)\1+$/.test(serial) || '01234567890123456789'.includes(serial)) return undefined;
  if (/^(n\/?a|none|unknown|not set|null|default|serial( ?(no|number))?\.?)$/i.test(serial)) return undefined;
  return serial;
}

/** Lower case and without `urn:uuid:`; undefined if the text is no UUID, or one of all zeroes or all `f`. */
export function uuidOf(text: string | undefined): string | undefined {
  // Printers make up versions and variants that RFC 9562 does not have.
  const { data } = z.guid().safeParse(
    (text ?? '')
      .trim()
      .toLowerCase()
      .replace(/^urn:uuid:/, ''),
  );
  return data === undefined || /^[0-]+$|^[f-]+$/.test(data) ? undefined : data;
}

/** Undefined for what cannot be the address of one device: not six bytes, all zeroes, or a group's address. */
export function macOf(bytes: Uint8Array): string | undefined {
  const first = bytes[0] ?? 1;
  if (bytes.length !== 6 || (first & 1) === 1 || bytes.every((byte) => byte === 0)) return undefined;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

/** What an IEEE 1284 device ID tells. */
export function evidenceOfDeviceId(text: string): Evidence {
  const { make, model, serial: written, commands } = parseDeviceId(text);
  const serial = believableSerial(written);
  const deviceId =
    make === undefined || model === undefined
      ? undefined
      : `MFG:${make};MDL:${model};${serial === undefined ? '' : `SN:${serial};`}`;
  return {
    ...(make !== undefined && { make }),
    ...(model !== undefined && { model }),
    ...(serial !== undefined && { serial }),
    ...(deviceId !== undefined && { deviceId }),
    ...(commands.length > 0 && { languages: languagesOf(commands) }),
  };
}

/**
 * What CUPS's backends put into a device's URI: `usb://Zebra%20Technologies/ZTC%20ZD421?serial=D4J…`,
 * `dnssd://Name._ipp._tcp.local/?uuid=…`, `socket://10.0.0.7:9100`. A user name and a password are left out.
 */
export function evidenceOfDeviceUri(text: string): Pick<Evidence, 'serial' | 'uuid' | 'deviceUri'> {
  if (text.length > 400 || !URL.canParse(text)) return {};
  const url = new URL(text);
  url.username = '';
  url.password = '';
  const serial = believableSerial(url.searchParams.get('serial') ?? undefined);
  const uuid = uuidOf(url.searchParams.get('uuid') ?? undefined);
  return {
    ...(serial !== undefined && { serial }),
    ...(uuid !== undefined && { uuid }),
    // `file:///dev/null` and the like are not the address of a device.
    ...(url.protocol !== 'file:' && url.href.length <= 500 && { deviceUri: url.href }),
  };
}

/** The evidence in a device's own answer. */
export function evidenceOfIdentity({ evidence: kind, value }: DeviceIdentity): Evidence {
  const serial = kind === 'serial' ? believableSerial(value) : undefined;
  const uuid = kind === 'uuid' ? uuidOf(value) : undefined;
  return { ...(serial !== undefined && { serial }), ...(uuid !== undefined && { uuid }) };
}

/**
 * What is known of the device at an address: what a provider tells of it (`told`), and what the device says itself (`said`).
 * If the two contradict each other, only the device counts: the provider speaks of another device, or of an earlier one.
 */
export function toldAndSaid(told: Evidence, said: Evidence): Evidence {
  return contradict(told, said) ? said : { ...told, ...said };
}

/** Whether `told` and `said` must be about two different devices. */
export function contradict(told: Evidence, said: Evidence): boolean {
  return (['serial', 'uuid'] as const).some(
    (kind) =>
      told[kind] !== undefined &&
      said[kind] !== undefined &&
      told[kind].toUpperCase() !== said[kind].toUpperCase(),
  );
}
