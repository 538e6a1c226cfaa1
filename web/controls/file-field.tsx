/** A labelled field for choosing a file on this computer. */
import { Field } from './field.tsx';

type FileProps = {
  label: string;
  hint?: string | undefined;
  fault?: string | undefined;
  /** Endings and media types, as `<input accept>` lists them. */
  accept: string;
  onFile: (file: File) => void;
  /** The field is cleared after each choice, so that the same file can be chosen again. */
  oneMore?: boolean;
};

export function FileField({ label, hint, fault, accept, onFile, oneMore = false }: FileProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(attributes) => (
        <input
          {...attributes}
          type="file"
          class="input"
          accept={accept}
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file !== undefined) onFile(file);
            if (oneMore) currentTarget.value = '';
          }}
        />
      )}
    </Field>
  );
}
