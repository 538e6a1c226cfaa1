/**
 * A value as ZPL field data: whatever it holds, the printer reads it as data.
 *
 * ^FH (ZPL II Programming Guide, "Field Hexadecimal Indicator") lets a field give bytes as an indicator and two
 * hex digits. Only what is plainly harmless is sent as it is: the prefixes ^ and ~ would start a command, the
 * indicator an escape, a backslash a line break in ^FB, and controls are eaten or obeyed.
 */

const HARMLESS = /^[A-Za-z0-9 .,:;/()+\-*=#@!?%&$'"<>[\]{}|]$/;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'));
const harmless = Array.from({ length: 128 }, (_, code) => HARMLESS.test(String.fromCharCode(code)));
const needsEscape = /[^A-Za-z0-9 .,:;/()+\-*=#@!?%&$'"<>[\]{}|]/;

/**
 * Field data for a field that has ^FH with `indicator`, in UTF-8 (^CI28). Half surrogates become U+FFFD.
 * @param indicator one character; itself always escaped
 */
export function escapeFieldData(value: string, indicator = '_'): string {
  if (indicator === '_' && !needsEscape.test(value)) return value;
  let escaped = '';
  for (const char of value.toWellFormed()) {
    const code = char.charCodeAt(0);
    if (char.length === 1 && harmless[code] === true && char !== indicator) escaped += char;
    else for (const byte of Buffer.from(char, 'utf8')) escaped += indicator + hex[byte];
  }
  return escaped;
}
