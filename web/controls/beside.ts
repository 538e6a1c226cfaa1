/** Where a popover opens: below its button, or above where there is no room. */

/** Pixels between the two, and between the popover and the edge of the window. */
const [GAP, EDGE] = [4, 8];

/** Puts an open popover beside its button, and the focus onto its first button, as long as it is nowhere in it. */
export function placeBeside(popover: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = popover;
  const left = Math.max(EDGE, Math.min(at.right - offsetWidth, innerWidth - offsetWidth - EDGE));
  const isRoomBelow = at.bottom + GAP + offsetHeight < innerHeight;
  popover.style.left = `${left}px`;
  popover.style.top = `${isRoomBelow ? at.bottom + GAP : Math.max(EDGE, at.top - GAP - offsetHeight)}px`;
  // The toggle event comes a moment after it has opened: the focus may be on something in it by then.
  if (!popover.contains(document.activeElement))
    popover.querySelector<HTMLElement>('button:enabled, select')?.focus();
}
