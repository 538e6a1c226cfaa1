/** Another picture in the place of the one that is there. */
import { Field } from '../controls/field.tsx';
import { t } from '../texts/texts.ts';
import { pictureText } from './picture-file.ts';

export function PictureChoice({ onPicture }: { onPicture: (data: string) => void }) {
  const { designer: words } = t.value;
  const take = async (file: File | undefined) => {
    const data = file === undefined ? undefined : await pictureText(file);
    if (data !== undefined) onPicture(data);
  };
  return (
    <Field label={words.choosePicture} hint={words.pictureHint}>
      {(attributes) => (
        <input
          {...attributes}
          type="file"
          class="input"
          accept="image/png,image/jpeg,image/svg+xml"
          onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
        />
      )}
    </Field>
  );
}
