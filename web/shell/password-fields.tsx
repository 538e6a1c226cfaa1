/** Two password fields: for the current password, which the browser may fill in, and for a new one. */
import type { Signal } from '@preact/signals';
import { TextField, typed } from '../controls/field.tsx';

export function CurrentPassword({ label, password }: { label: string; password: Signal<string> }) {
  return (
    <TextField label={label} type="password" autocomplete="current-password" required {...typed(password)} />
  );
}

type NewProps = { label: string; hint: string; password: Signal<string> };

export function NewPassword({ label, hint, password }: NewProps) {
  return (
    <TextField
      label={label}
      hint={hint}
      type="password"
      autocomplete="new-password"
      minLength={10}
      required
      {...typed(password)}
    />
  );
}
