/** The two questions that many pages ask: whether something shall end, and what it shall be called. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { call } from '../service/call.ts';
import { t } from '../texts/texts.ts';
import { Ask } from './dialog.tsx';
import { TextField, typed } from './field.tsx';
import { say } from './toast.tsx';

type Asking = {
  title: string;
  path: string;
  /** What is said when it is done. */
  said?: string;
  onDone: () => void;
  onClose: () => void;
};

type EndProps = Asking & {
  /** Label of the button. */
  action: string;
  /** What ends with it. */
  says: string;
  method?: 'DELETE' | 'POST';
};

export function AskToEnd({ title, action, says, path, method = 'DELETE', said, onDone, onClose }: EndProps) {
  return (
    <Ask
      title={title}
      action={action}
      danger
      onClose={onClose}
      onAction={async () => {
        await call(z.unknown(), path, { method });
        if (said !== undefined) say(said);
        onDone();
      }}
    >
      <p>{says}</p>
    </Ask>
  );
}

type NameProps = Asking & { label: string; hint?: string; now: string };

export function AskName({ title, label, hint, now, path, said, onDone, onClose }: NameProps) {
  const name = useSignal(now);
  const text = name.value.trim();
  return (
    <Ask
      title={title}
      action={t.value.general.save}
      disabled={text === ''}
      onClose={onClose}
      onAction={async () => {
        await call(z.unknown(), path, { method: 'PUT', body: { name: text } });
        if (said !== undefined) say(said);
        onDone();
      }}
    >
      <TextField label={label} hint={hint} required maxLength={200} {...typed(name)} />
    </Ask>
  );
}
