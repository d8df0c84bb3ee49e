/** Where a popover stands: below what opened it, inside the window. */

const GAP = 6; // pixels, as the widths
const WIDEST = 320;

/** Shows `box` below `anchor`, or above it where there is no room. */
export function showBelow(box: HTMLElement, anchor: HTMLElement): void {
  const place = anchor.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  box.style.left = `${Math.max(GAP, Math.min(place.left, clientWidth - WIDEST - GAP))}px`;
  box.style.top = `${place.bottom + GAP}px`;
  box.showPopover();
  keepInside(box, place, clientHeight);
}

/** For content that came after it was shown. */
export function keepInside(box: HTMLElement, place: DOMRect, height = document.documentElement.clientHeight): void {
  if (box.getBoundingClientRect().bottom > height) {
    box.style.top = `${Math.max(GAP, Math.min(place.top - box.offsetHeight - GAP, height - box.offsetHeight - GAP))}px`;
  }
}
