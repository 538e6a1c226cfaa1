/** A search field that narrows a list while somebody types, or once they have finished. */
import { useId } from 'preact/hooks';

type SearchProps = {
  label: string;
  value: string;
  onText: (text: string) => void;
  /** Called on Enter, and when the focus leaves the field. */
  onEntered?: (text: string) => void;
  /** Called on each Enter. */
  onEnter?: () => void;
  /** Why no search is possible with the text. */
  fault?: string | undefined;
};

export function SearchField({ label, value, onText, onEntered, onEnter, fault }: SearchProps) {
  const why = useId();
  return (
    <div class="search">
      <input
        type="search"
        class="input"
        autocomplete="off"
        aria-label={label}
        placeholder={label}
        aria-invalid={fault !== undefined}
        aria-describedby={fault === undefined ? undefined : why}
        value={value}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onChange={({ currentTarget }) => onEntered?.(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') onEnter?.();
        }}
      />
      {fault !== undefined && (
        <p id={why} class="fault small" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}
