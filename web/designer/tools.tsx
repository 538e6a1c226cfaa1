/** What the designer's bars are made of: tools with a drawing, groups of them, and what a narrow bar has behind a button. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { placeBeside } from '../controls/beside.ts';
import { Icon, type IconName } from '../controls/icon.tsx';
import { t } from '../texts/texts.ts';

type ToolProps = { says: string; icon: IconName; off?: boolean; isOn?: boolean; onUse: () => void };

/**
 * What a tool is for is said when it is pointed at, to whoever hears it, and beside the drawing where it lies behind a button.
 * @param isOn of a tool that switches something: whether it is on
 */
export function Tool({ says, icon, off = false, isOn, onUse }: ToolProps) {
  return (
    <button
      type="button"
      class="button quiet tool"
      aria-label={says}
      aria-pressed={isOn}
      title={says}
      disabled={off}
      onClick={onUse}
    >
      <Icon name={icon} />
      <span class="tool-words">{says}</span>
    </button>
  );
}

export function Tools({ says, children }: { says: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is laid out by rules of its own
    <div class="tool-group" role="group" aria-label={says}>
      {children}
    </div>
  );
}

/** Lies in the bar where the bar is wide enough for it (the style sheets say how wide), and else behind a button. */
export function Further({ says, children }: { says: string; children: ComponentChildren }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const rest = useRef<HTMLDivElement>(null);
  return (
    <>
      <div
        ref={rest}
        id={id}
        popover="auto"
        class="further"
        onToggle={({ newState }) => {
          const [popover, opener] = [rest.current, button.current];
          if (newState === 'open' && popover !== null && opener !== null) placeBeside(popover, opener);
        }}
      >
        {children}
      </div>
      <button
        ref={button}
        type="button"
        class="button quiet tool to-further"
        popovertarget={id}
        aria-label={`${t.value.general.more}: ${says}`}
        title={t.value.general.more}
      >
        <Icon name="more" />
      </button>
    </>
  );
}
