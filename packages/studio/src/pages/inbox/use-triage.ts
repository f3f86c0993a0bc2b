import type { PendingCall } from '@lastcall/client';
import { useEffect, useState } from 'react';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { type CallGroup, groupCalls } from './call-groups.ts';
import { withOpened } from './opened-calls.ts';

export interface Triage {
  readonly groups: readonly CallGroup[];
  readonly selected: CallGroup | undefined;
  /** Opens a group, or closes it. */
  toggle(group: CallGroup): void;
  /** Shows the calls of a group one by one. */
  split(group: CallGroup): void;
}

/**
 * The calls of the inbox, one of which may be open. `j` and `k` go from call to call; once one is open, they open the next one, whose card
 * gets the focus and takes the keys `a`, `d` and `e`.
 */
export function useTriage(data: readonly PendingCall[] | undefined): Triage {
  const [opened, setOpened] = useState<readonly PendingCall[]>([]);
  const [selectedId, setSelectedId] = useState<string>();
  const [split, setSplit] = useState<ReadonlySet<string>>(new Set());
  // An open call stays in its place after it has been answered, so that the user sees the result.
  const calls = withOpened(data ?? [], opened);
  const groups = groupCalls(calls, { opened: new Set(opened.map(({ callId }) => callId)), split });
  const selected = groups.find(({ leader }) => leader.callId === selectedId);
  const open = ({ leader }: CallGroup): void => {
    setSelectedId(leader.callId);
    setOpened((before) => (before.some(({ callId }) => callId === leader.callId) ? before : [...before, leader]));
  };
  const move = (by: 1 | -1): void => {
    if (selected === undefined) {
      moveFocus(by);
      return;
    }
    const next = groups[groups.indexOf(selected) + by];
    if (next !== undefined) open(next);
  };
  useKeys({
    j: { label: 'Next call', run: () => move(1) },
    k: { label: 'Previous call', run: () => move(-1) },
  });
  useEffect(() => {
    if (selectedId !== undefined)
      document.querySelector<HTMLElement>(`[data-card="${CSS.escape(selectedId)}"]`)?.focus();
  }, [selectedId]);
  return {
    groups,
    selected,
    toggle: (group) => (group === selected ? setSelectedId(undefined) : open(group)),
    split: ({ leader, others }) =>
      setSplit((before) => new Set([...before, ...[leader, ...others].map((one) => one.callId)])),
  };
}

/** Moves the focus to the next or previous row of the inbox; from outside, to the first. */
function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-inbox-row]')];
  const at = rows.findIndex((row) => row.closest('li')?.contains(document.activeElement) === true);
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}
