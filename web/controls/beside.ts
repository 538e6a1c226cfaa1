/** Places a popover: below its button, or above where there is no room below. */

/** Pixels between the popover and its button, and between the popover and the edge of the window. */
const [GAP, EDGE] = [4, 8];

/** Puts an open popover beside its button. If the focus is not in the popover yet, it goes to its first button. */
export function placeBeside(popover: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = popover;
  const left = Math.max(EDGE, Math.min(at.right - offsetWidth, innerWidth - offsetWidth - EDGE));
  const isRoomBelow = at.bottom + GAP + offsetHeight < innerHeight;
  popover.style.left = `${left}px`;
  popover.style.top = `${isRoomBelow ? at.bottom + GAP : Math.max(EDGE, at.top - GAP - offsetHeight)}px`;
  // The toggle event comes a moment after the popover has opened: by then the focus may already be in it.
  if (!popover.contains(document.activeElement))
    popover.querySelector<HTMLElement>('button:enabled, select')?.focus();
}
