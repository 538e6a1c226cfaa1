/** What a record's document is: told by its bytes, of which no more are looked at than that takes. */
import { because } from '../../contract/reason.ts';
import { PictureFault } from '../image/picture-fault.ts';

/** Some programs write up to a kilobyte before a PDF begins. */
const HEAD = 1_024;

export function isPdf(base64: string): boolean {
  return Buffer.from(base64.slice(0, Math.ceil(HEAD / 3) * 4), 'base64').includes('%PDF-');
}

/** Node leaves out what is no base64. @throws PictureFault */
export function requireBase64(text: string): void {
  if (text === '') throw new PictureFault(because('document-none', {}));
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new PictureFault(because('document-base64', {}));
}
