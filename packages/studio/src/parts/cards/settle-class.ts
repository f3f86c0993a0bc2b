import type { CallStatus } from '@lastcall/client/timeline';
import { useState } from 'react';

const OPEN: ReadonlySet<CallStatus> = new Set(['waiting', 'running', 'planned']);

/** The classes of a card that was open when it was first shown, and has settled since: it moves once. */
export function useSettleClass(status: CallStatus): string {
  const isOpen = OPEN.has(status);
  const [wasOpen] = useState(isOpen);
  return wasOpen && !isOpen ? `settle ${COLOURS[status] ?? '[--settle:var(--color-quiet)]'}` : '';
}

const COLOURS: Readonly<Partial<Record<CallStatus, string>>> = {
  ok: '[--settle:var(--color-ok)]',
  error: '[--settle:var(--color-bad)]',
  unknown: '[--settle:var(--color-doubt)]',
};
