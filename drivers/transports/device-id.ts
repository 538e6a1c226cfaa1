/**
 * IEEE 1284 device IDs: `MFG:Zebra Technologies ;CMD:ZPL;MDL:ZTC ZD421-203dpi ZPL;CLS:PRINTER;SN:D4J193601234;`
 *
 * Printers disagree about the details: short or long keys, spaces, no last semicolon, the two length bytes left in front. And
 * anything can stand in a device ID. So what can be read is read, the rest is left out, and nothing throws.
 * Source: IEEE 1284-2000 §7.6; the keys as CUPS and Windows know them.
 */

interface DeviceId {
  make?: string;
  model?: string;
  serial?: string;
  /** `CMD`: as the printer writes them. */
  commands: string[];
}

/** The length in two bytes, of which the first is small: no key begins so. The second may be any character. */
const LENGTH = /^[\0-\x0f]./s;
const LONGEST = 4_096;
const LONGEST_VALUE = 200;

const KEYS: Record<string, 'make' | 'model' | 'serial' | 'commands'> = {
  MFG: 'make',
  MANUFACTURER: 'make',
  MDL: 'model',
  MODEL: 'model',
  SN: 'serial',
  SERN: 'serial',
  SERIALNUMBER: 'serial',
  CMD: 'commands',
  'COMMAND SET': 'commands',
};

/** If a key stands twice, maybe under another of its names, the first value counts. */
export function parseDeviceId(text: string): DeviceId {
  const id: DeviceId = { commands: [] };
  for (const part of text.slice(0, LONGEST).replace(LENGTH, '').split(';')) {
    const colon = part.indexOf(':');
    const key = KEYS[plainText(part.slice(0, Math.max(0, colon))).toUpperCase()];
    const value = plainText(part.slice(colon + 1, colon + 1 + LONGEST_VALUE));
    if (key === undefined || value === '') continue;
    if (key === 'commands') {
      if (id.commands.length > 0) continue;
      id.commands = value
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
    } else {
      id[key] ??= value;
    }
  }
  return id;
}

/** Makes one trimmed line with single spaces. Control characters and bytes that were no UTF-8 are left out. */
export function plainText(text: string): string {
  return text.replace(/[\p{C}\ufffd\s]+/gu, ' ').trim();
}
