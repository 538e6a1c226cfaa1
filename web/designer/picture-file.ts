/** Reads picture files as base64, the form in which templates hold them. */
import { LIMITS } from '../../src/contract/limits.ts';
import { base64Of } from '../controls/base64.ts';
import { say } from '../controls/toast.tsx';
import { t } from '../texts/texts.ts';
import type { LabelElement } from './document.ts';
import { newPicture } from './new-elements.ts';

/** The media types that a template takes, as `<input accept>` lists them. */
export const PICTURE_FILES = 'image/png,image/jpeg,image/svg+xml';

/** @returns base64 without a prefix; undefined, and tells the person so, if the file is too large for a template */
export async function pictureText(file: File): Promise<string | undefined> {
  if (Math.ceil(file.size / 3) * 4 > LIMITS.templateSource) {
    say(t.value.designer.pictureTooLarge, true);
    return undefined;
  }
  return await base64Of(file);
}

export async function pictureElement(
  file: File,
  label: { width: number; height: number },
): Promise<LabelElement | undefined> {
  const data = await pictureText(file);
  return data === undefined ? undefined : newPicture(data, label, await shapeOf(file.type, data));
}

/** Width and height as the browser reads them; a square if it cannot read the file, which the service will then refuse. */
async function shapeOf(type: string, data: string): Promise<{ width: number; height: number }> {
  const image = new Image();
  image.src = `data:${type};base64,${data}`;
  await image.decode().catch(() => {});
  const { naturalWidth: width, naturalHeight: height } = image;
  return width > 0 && height > 0 ? { width, height } : { width: 1, height: 1 };
}
