/** The panel beside the label, with tabs: properties, layers, fields, the whole label, and problems. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { Icon } from '../controls/icon.tsx';
import { t } from '../texts/texts.ts';
import type { Editor } from './editor.ts';
import { FieldList } from './field-list.tsx';
import { Layers } from './layers.tsx';
import { ProblemList } from './problem-list.tsx';
import { Properties } from './properties.tsx';
import { RecordChoice } from './record-choice.tsx';
import { WholeLabel } from './whole-label.tsx';

/** The same width as in the style sheets. */
const PHONE = '(max-width: 640px)';
const TABS = ['properties', 'layers', 'fields', 'label', 'problems'] as const;
type Tab = (typeof TABS)[number];

export function Side({ editor }: { editor: Editor }) {
  const { designer: words } = t.value;
  const id = useId();
  const open = useSignal<Tab>('properties');
  const count = editor.drawing.last.value?.problems.length ?? 0;
  // On a tablet the panel is a sheet from below, which people can put down. On a phone it is down until somebody wants it.
  const isUp = useSignal(!matchMedia(PHONE).matches);
  const putUp = (up: boolean) => {
    isUp.value = up;
    // On a phone there is room for both the label and the sheet only if the label is at the top.
    if (up && matchMedia(PHONE).matches) document.querySelector('.desk')?.scrollIntoView();
  };
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = TABS.at((TABS.indexOf(open.value) + by) % TABS.length) ?? 'properties';
    open.value = next;
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <section class={isUp.value ? 'card side-panel' : 'card side-panel down'} aria-label={words[open.value]}>
      <div class="panel-tabs" role="tablist" onKeyDown={move} tabIndex={-1}>
        {TABS.map((tab) => (
          <button
            key={tab}
            id={`${id}-${tab}`}
            type="button"
            role="tab"
            aria-selected={open.value === tab}
            aria-controls={`${id}-panel`}
            tabIndex={open.value === tab ? 0 : -1}
            onClick={() => {
              open.value = tab;
              putUp(true);
            }}
          >
            {words[tab]}
            {tab === 'problems' && count > 0 && <span class="count">{count}</span>}
          </button>
        ))}
      </div>
      <button
        type="button"
        class="button quiet square put-down"
        aria-expanded={isUp.value}
        aria-controls={`${id}-panel`}
        aria-label={words.panel}
        onClick={() => {
          putUp(!isUp.value);
        }}
      >
        <Icon name={isUp.value ? 'down' : 'up'} />
      </button>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${open.value}`} class="stack">
        {open.value === 'properties' && <Properties editor={editor} />}
        {open.value === 'layers' && <Layers editor={editor} />}
        {open.value === 'fields' && (
          <>
            <RecordChoice editor={editor} />
            <FieldList editor={editor} />
          </>
        )}
        {open.value === 'label' && <WholeLabel editor={editor} />}
        {open.value === 'problems' && <ProblemList editor={editor} />}
      </div>
    </section>
  );
}
