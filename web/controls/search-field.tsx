/** A search field that narrows a list while somebody types. */
type SearchProps = {
  label: string;
  value: string;
  onText: (text: string) => void;
  /** Why the typed text cannot find anything. */
  fault?: string | undefined;
};

export function SearchField({ label, value, onText, fault }: SearchProps) {
  return (
    <input
      type="search"
      class="input search"
      aria-label={label}
      placeholder={label}
      aria-invalid={fault !== undefined}
      title={fault}
      value={value}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
    />
  );
}
