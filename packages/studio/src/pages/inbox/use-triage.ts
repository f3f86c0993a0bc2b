import type { PendingCall } from '@lastcall/client';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { type CallGroup, groupCalls } from './call-groups.ts';
import { withOpened } from './opened-calls.ts';

export interface Triage {
  readonly groups: readonly CallGroup[];
  readonly selected: CallGroup | undefined;
  /** The call that the address named, if it is not in the list. */
  readonly unlistedId: string | undefined;
  /** Opens a group, or closes it. */
  toggle(group: CallGroup): void;
  /** Shows the calls of a group one by one. */
  split(group: CallGroup): void;
}

/**
 * The calls of the inbox. The address names the open one; beside the list there is always one. `j` and `k` go from call to call; once one is
 * open, they open the next one, whose card gets the focus and takes the keys `a`, `d` and `e`. A call that the user did not choose is shown
 * without the focus, and the first key gives it the focus.
 */
export function useTriage(data: readonly PendingCall[] | undefined, isWide: boolean): Triage {
  const [opened, setOpened] = useState<readonly PendingCall[]>([]);
  const { call: selectedId, ...search } = useSearch({ from: '/inbox' });
  const navigate = useNavigate();
  const [split, setSplit] = useState<ReadonlySet<string>>(new Set());
  /** The call that the user chose, and not only the page. */
  const chosen = useRef<string>(undefined);
  // An open call stays in its place after it has been answered, so that the user sees the result.
  const calls = withOpened(data ?? [], opened);
  const leaders = new Set([...opened.map(({ callId }) => callId), selectedId ?? '']);
  const groups = groupCalls(calls, { opened: leaders, split });
  const selected = groups.find(({ leader }) => leader.callId === selectedId);
  const select = (callId: string | undefined): void =>
    void navigate({ to: '/inbox', search: callId === undefined ? search : { ...search, call: callId }, replace: true });
  const choose = ({ leader: { callId } }: CallGroup): void => {
    chosen.current = callId;
    if (callId === selectedId) focusCard(callId);
    else select(callId);
  };
  const move = (by: 1 | -1): void => {
    if (selected === undefined) {
      moveFocus(by);
      return;
    }
    const isChosen = chosen.current === selectedId;
    const next = isChosen ? groups[groups.indexOf(selected) + by] : selected;
    if (next !== undefined) choose(next);
  };
  useKeys({
    j: { label: 'Next call', run: () => move(1) },
    k: { label: 'Previous call', run: () => move(-1) },
  });
  // While another page loads, the address is that page's, and the inbox is still shown: to select a call would bring the user back.
  const isLeaving = useLocation({ select: ({ pathname }) => pathname !== '/inbox' });
  const first = groups[0]?.leader.callId;
  const missing = isWide && !isLeaving && selected === undefined ? first : undefined;
  useEffect(() => {
    if (missing !== undefined) select(missing);
  }, [missing]);
  const [unlistedId, setUnlistedId] = useState<string>();
  const isUnlisted = data !== undefined && selectedId !== undefined && selected === undefined;
  useEffect(() => {
    if (isUnlisted) setUnlistedId(selectedId);
  }, [isUnlisted, selectedId]);
  const leader = selected?.leader;
  useEffect(() => {
    if (leader === undefined) return;
    setOpened((before) => (before.some(({ callId }) => callId === leader.callId) ? before : [...before, leader]));
    if (chosen.current === leader.callId) focusCard(leader.callId);
  }, [leader?.callId]);
  return {
    groups,
    selected,
    unlistedId,
    toggle: (group) => (group === selected && !isWide ? select(undefined) : choose(group)),
    split: ({ leader: one, others }) =>
      setSplit((before) => new Set([...before, ...[one, ...others].map(({ callId }) => callId)])),
  };
}

function focusCard(callId: string): void {
  document.querySelector<HTMLElement>(`[data-card="${CSS.escape(callId)}"]`)?.focus();
}

/** Moves the focus to the next or previous row of the inbox; from outside, to the first. */
function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-inbox-row]')];
  const at = rows.findIndex((row) => row.closest('li')?.contains(document.activeElement) === true);
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}
