/** A menu of further actions: the browser's own popover, beside its button. */
import { useId, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { placeBeside } from './beside.ts';
import { Icon } from './icon.tsx';

export type MenuItem = { words: string; bad?: boolean; onPick: () => void };

export function Menu({ about, items }: { about: string; items: readonly MenuItem[] }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  if (items.length === 0) return null;
  const place = (event: { newState: string }) => {
    const { current } = list;
    if (event.newState !== 'open' || current === null || button.current === null) return;
    placeBeside(current, button.current);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const buttons: Element[] = [...(list.current?.querySelectorAll('button') ?? [])];
    const now = document.activeElement === null ? -1 : buttons.indexOf(document.activeElement);
    const next = buttons.at((now + step) % buttons.length);
    if (next instanceof HTMLElement) next.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button quiet"
        popovertarget={id}
        aria-haspopup="menu"
        aria-label={`${t.value.general.more}: ${about}`}
      >
        <Icon name="more" />
      </button>
      <div ref={list} id={id} popover="auto" class="menu" role="menu" onToggle={place} onKeyDown={move}>
        {items.map(({ words, bad, onPick }) => (
          <button
            key={words}
            type="button"
            role="menuitem"
            class={bad ? 'bad' : ''}
            onClick={() => {
              list.current?.hidePopover();
              onPick();
            }}
          >
            {words}
          </button>
        ))}
      </div>
    </>
  );
}
