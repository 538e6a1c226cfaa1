/** Names of the objects (graphics, fonts, formats) that a ZPL printer stores. */
/** The longest name and extension, characters. The rest is cut off. Firmware has such limits too. */
const NAME = 16;
const EXTENSION = 3;

/** The full name `d:o.x` in upper case, with the printer's defaults for the parts that are left out. */
export function objectName(text: string, extension: string): string {
  const match = /^(?:([A-Z]):)?([^.:]*)(?:\.(.*))?$/.exec(text.trim().toUpperCase());
  const name = match?.[2]?.slice(0, NAME) || 'UNKNOWN';
  return `${match?.[1] ?? 'R'}:${name}.${match?.[3]?.slice(0, EXTENSION) || extension}`;
}
