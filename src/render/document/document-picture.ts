/** Reads documents that are pictures: PNG and JPEG, which their bytes show, with the resolution that the file says. */
import { type Image, loadImage } from '@napi-rs/canvas';
import { because } from '../../contract/reason.ts';
import { PictureFault } from '../image/picture-fault.ts';
import { pictureResolution, type Resolution, readPixelFile } from '../image/picture-file.ts';
import { requireWhole } from '../image/whole-picture.ts';

export interface DocumentPicture {
  readonly image: Image;
  /** Undefined: the file does not say its resolution. */
  readonly resolution: Resolution | undefined;
}

/** @throws PictureFault */
export async function documentPicture(bytes: Buffer): Promise<DocumentPicture> {
  const file = readPixelFile(bytes);
  if (file === undefined) throw new PictureFault(because('document-kind', {}));
  await requireWhole(bytes, file);
  try {
    return { image: await loadImage(bytes), resolution: pictureResolution(bytes) };
  } catch {
    throw new PictureFault(because('picture-broken', {}));
  }
}
