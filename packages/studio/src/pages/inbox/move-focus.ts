/** Moves the focus to the next or previous row of the inbox; from outside, to the first. */
export function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-inbox-row]')];
  const at = rows.findIndex((row) => row.closest('li')?.contains(document.activeElement) === true);
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}
