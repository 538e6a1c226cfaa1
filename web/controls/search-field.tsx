/** Words that a list is narrowed by as they are typed. */
type SearchProps = {
  label: string;
  value: string;
  onText: (text: string) => void;
  /** Why what stands there finds nothing. */
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
