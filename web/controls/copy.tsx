/** A button that copies a text to the clipboard. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { say } from './toast.tsx';

const SAID_MS = 2_000;

export function CopyButton({ text, about }: { text: string; about: string }) {
  const done = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const copy = async () => {
    if (!(await copyText(text, button.current))) {
      say(t.value.general.notCopied, true);
      return;
    }
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

/**
 * Without https a browser has no clipboard API. Then the text is selected and copied, as with the keyboard.
 * @returns whether the browser says that it copied the text
 */
async function copyText(text: string, beside: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard API, or the page may not use it.
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  // The field stands in the same dialog, because a modal dialog does not let the focus out.
  (beside?.parentElement ?? document.body).append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  beside?.focus();
  return copied;
}
