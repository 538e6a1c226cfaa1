/** Reads a file as base64, the form in which templates and records hold files. */

/** How many bytes are encoded at a time: a multiple of three, and few enough to be the arguments of one call. */
const AT_ONCE = 32_766;

export async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += AT_ONCE) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + AT_ONCE)));
  }
  return text;
}
