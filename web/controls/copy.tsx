/** A button that copies a text to the clipboard. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';

const SAID_MS = 2_000;

export function CopyButton({ text, about }: { text: string; about: string }) {
  const done = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const copy = async () => {
    await copyText(text, button.current);
    done.value = true;
    setTimeout(() => {
      done.value = false;
    }, SAID_MS);
  };
  const { general } = t.value;
  return (
    <button ref={button} type="button" class="button" aria-label={`${general.copy}: ${about}`} onClick={copy}>
      {done.value ? general.copied : general.copy}
    </button>
  );
}

/** Without https a browser has no clipboard API; then a selection is copied, as with the keyboard. */
async function copyText(text: string, beside: HTMLElement | null): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  // Inside the same dialog: a modal dialog does not let the focus leave it.
  (beside?.parentElement ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  beside?.focus();
}
