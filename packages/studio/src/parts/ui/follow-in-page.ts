import type { MouseEvent } from 'react';

/** With a modifier the browser opens the link elsewhere, as people expect. */
export function followInPage(event: MouseEvent, follow: () => void): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
  event.preventDefault();
  follow();
}
