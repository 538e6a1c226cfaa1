/** Keyboard shortcuts. They go to a page, to the search field or to the list of shortcuts; none of them changes data. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go } from '../address/place.ts';
import { Dialog } from '../controls/dialog.tsx';
import { sets } from '../controls/sets.ts';
import { may } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { PAGE_NAMES, PAGES } from './pages.tsx';

const open = signal(false);
/** ms within which the second key must follow `g`. */
const TOGETHER = 1_500;

export function showShortcuts(): void {
  open.value = true;
}

/** Types of input that take no letters. */
const LETTERLESS = ['checkbox', 'radio', 'file', 'number', 'date', 'datetime-local']
  .map((type) => `[type="${type}"]`)
  .join();

/** Whether what has the focus uses the key itself. A choice uses a letter only if one of its options begins with it. */
function isTaken(key: string, target: EventTarget | null): boolean {
  if (target instanceof HTMLSelectElement)
    return (
      target.closest('dialog') !== null ||
      [...target.options].some(({ text }) => text.trim().toLowerCase().startsWith(key))
    );
  return (
    target instanceof HTMLElement && target.closest(`input:not(${LETTERLESS}), textarea, dialog`) !== null
  );
}

/** Moves the focus to the next or previous row of the page's lists. The row is a link, so Enter opens it. */
function stepRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>('main .row-link')];
  const row = document.activeElement?.closest('tr, li');
  const at = rows.findIndex((one) => one === document.activeElement || (row?.contains(one) ?? false));
  rows[at < 0 ? (by === 1 ? 0 : rows.length - 1) : at + by]?.focus();
}

export function Shortcuts() {
  useEffect(() => {
    let begun = 0;
    const press = (event: KeyboardEvent) => {
      // Shortcuts work with Caps Lock, too.
      const key = event.key.toLowerCase();
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(key, event.target)) return;
      const second = Date.now() - begun < TOGETHER;
      begun = 0;
      if (second) {
        const name = PAGE_NAMES.find((page) => PAGES[page].key === key && may(PAGES[page].needs));
        if (name === undefined) return;
        event.preventDefault();
        go(name === 'start' ? [] : [name]);
      } else if (key === 'g') begun = Date.now();
      else if (event.key === '?') showShortcuts();
      else if (key === 'j' || key === 'k') {
        event.preventDefault();
        stepRow(key === 'j' ? 1 : -1);
      } else if (event.key === '/') {
        const search = document.querySelector('input[type="search"]');
        if (!(search instanceof HTMLInputElement)) return;
        event.preventDefault();
        search.focus();
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  if (!open.value) return null;
  const { shortcuts, nav, general } = t.value;
  const close = sets(open, false);
  return (
    <Dialog title={shortcuts.title} closes={general.close} onClose={close}>
      <dl class="facts">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>{shortcuts.search}</dd>
        <dt>
          <kbd>j</kbd> <kbd>k</kbd>
        </dt>
        <dd>{shortcuts.rows}</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>{shortcuts.this}</dd>
        {PAGE_NAMES.filter((name) => may(PAGES[name].needs)).map((name) => [
          <dt key={name}>
            <kbd>g</kbd> {shortcuts.thenKey} <kbd>{PAGES[name].key}</kbd>
          </dt>,
          <dd key={`${name} `}>{shortcuts.goTo(nav[name])}</dd>,
        ])}
      </dl>
      {may('templates:edit') && (
        <>
          <h3>{shortcuts.designer}</h3>
          <dl class="facts">
            {shortcuts.designerKeys.map(([keys, does]) => [
              <dt key={keys}>
                <kbd>{keys}</kbd>
              </dt>,
              <dd key={`${keys} `}>{does}</dd>,
            ])}
          </dl>
        </>
      )}
    </Dialog>
  );
}
