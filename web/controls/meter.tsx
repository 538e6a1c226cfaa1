/** A bar that shows `part` of `of`; the numbers themselves stand beside the bar. */
export function Meter({ part, of }: { part: number; of: number }) {
  return (
    <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={of === 0 ? 0 : (100 * part) / of} height="4" />
    </svg>
  );
}
