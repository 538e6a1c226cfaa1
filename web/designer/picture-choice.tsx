/** A field for choosing a file that replaces the picture of an image element. */
import { FileField } from '../controls/file-field.tsx';
import { t } from '../texts/texts.ts';
import { PICTURE_FILES, pictureText } from './picture-file.ts';

export function PictureChoice({ onPicture }: { onPicture: (data: string) => void }) {
  const { designer: words } = t.value;
  const take = async (file: File) => {
    const data = await pictureText(file);
    if (data !== undefined) onPicture(data);
  };
  return (
    <FileField
      label={words.choosePicture}
      hint={words.pictureHint}
      accept={PICTURE_FILES}
      onFile={(file) => void take(file)}
    />
  );
}
