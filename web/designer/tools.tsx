/** What the designer's bars consist of: tools with icons, groups of tools, and what a narrow bar hides behind a button. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { placeBeside } from '../controls/beside.ts';
import { Icon, type IconName } from '../controls/icon.tsx';
import { t } from '../texts/texts.ts';

type ToolProps = { says: string; icon: IconName; off?: boolean; isOn?: boolean; onUse: () => void };

/**
 * `says` is what the tool is for. It is the tooltip, the name for screen readers, and what stands beside an icon behind a button.
 * @param isOn whether it is on, if the tool switches something
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

/** Tools that lie in the bar if it is wide enough (the style sheets say how wide), and otherwise behind a button. */
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
