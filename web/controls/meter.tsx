/** How much of it is out, as a bar; the numbers stand beside it. */
export function Meter({ part, of }: { part: number; of: number }) {
  return (
    <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={of === 0 ? 0 : (100 * part) / of} height="4" />
    </svg>
  );
}
