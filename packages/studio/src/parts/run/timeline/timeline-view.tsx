import type { Run, Story } from '@lastcall/client';
import { NEVER_RAN, type TimelineRow } from '@lastcall/client/timeline';
import { type ReactElement, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { useKeys } from '../../keyboard/keys.tsx';
import { OnScreen, Printed } from '../../ui/printed.tsx';
import { callNumbers } from '../call-words.ts';
import { CallRowView } from './call-row-view.tsx';
import { LineRowView, StepRowView } from './line-row-view.tsx';
import type { RunState } from './run-state.ts';
import { TimeAxis } from './time-bar.tsx';
import { type Span, timeScale } from './time-scale.ts';

interface TimelineViewProps {
  readonly state: RunState;
  readonly story: Story;
  /** All rows: the scale does not change with the filter. */
  readonly all: readonly TimelineRow[];
  readonly rows: readonly TimelineRow[];
  readonly stopped: (run: Run) => string;
  /** The current time, for rows that are still going on. */
  readonly now: number;
}

/** The height of the axis, which stays above the rows. A narrow screen has none. */
const AXIS_HEIGHT = 25;

/** Steps and calls as rows. Only the visible ones are rendered: a run with thousands is as fast as one with ten. */
export function TimelineView({ state, story, all, rows, stopped, now }: TimelineViewProps): ReactElement {
  const list = useRef<VirtualizerHandle>(null);
  const { call: open, fold } = state.search;
  const scale = useMemo(
    () => timeScale(spansOf(story, all, now), { isFolded: fold !== 'no' }),
    [story, all, now, fold],
  );
  const numbers = useMemo(() => callNumbers(all), [all]);
  const cursor = useCursor(rows, state, (index) => list.current?.scrollToIndex(index, { align: 'nearest' }));
  useOpenInView(rows, open, (index) => list.current?.scrollToIndex(index, { align: 'center' }));
  const onScroll = useStickToEnd(list, rows.length, story.status === 'running' && open === undefined);
  const { onOpen } = cursor;
  const viewOf = (row: TimelineRow): ReactElement => {
    if (row.kind === 'call')
      return (
        <CallRowView
          key={row.key}
          call={row}
          scale={scale}
          numbers={numbers}
          isOpen={open === row.callId}
          hasCursor={cursor.key === row.key}
          onOpen={onOpen}
        />
      );
    if (row.kind === 'step')
      return (
        <StepRowView
          key={row.key}
          row={row}
          scale={scale}
          isOpen={row.runId === state.id && open === `step-${row.step}`}
          onOpen={onOpen}
        />
      );
    return <LineRowView key={row.key} row={row} scale={scale} stopped={stopped} />;
  };
  return (
    <section
      aria-label="Timeline"
      // Otherwise the list would ignore clicks while it scrolls, which it does all the time during a run.
      className="min-h-24 flex-1 overflow-y-auto bg-surface -outline-offset-2 *:pointer-events-auto!"
    >
      <TimeAxis scale={scale} waits={story.waits} />
      <Virtualizer
        ref={list}
        as={OnScreen}
        data={rows}
        itemSize={ROW_HEIGHT}
        startMargin={AXIS_HEIGHT}
        onScroll={onScroll}
      >
        {viewOf}
      </Virtualizer>
      <Printed>{() => rows.map(viewOf)}</Printed>
    </section>
  );
}

/** `j` and `k` move from call to call and focus it; Enter opens it, like any link. */
function useCursor(
  rows: readonly TimelineRow[],
  state: RunState,
  reveal: (index: number) => void,
): { key: string | undefined; onOpen: (key: string, runId?: string) => void } {
  const [key, setKey] = useState<string>();
  // A key may be pressed again before the last move is rendered.
  const last = useRef<string>(undefined);
  const { set, search } = state;
  const move = (by: 1 | -1): void => {
    const calls = rows.flatMap((row, index) => (row.kind === 'call' ? [{ key: row.key, index }] : []));
    const at = calls.findIndex((call) => call.key === (last.current ?? search.call));
    const next =
      calls[at === -1 ? (by === 1 ? 0 : calls.length - 1) : Math.min(calls.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    reveal(next.index);
    last.current = next.key;
    setKey(next.key);
    // An open panel follows the cursor.
    if (search.call !== undefined) set({ call: next.key }, { replace: true });
  };
  useKeys({
    j: { label: 'The next call', run: () => move(1) },
    k: { label: 'The call before', run: () => move(-1) },
    Escape: {
      label: 'Close the call',
      run: () => search.call !== undefined && set({ call: undefined, tab: undefined }),
    },
  });
  const onOpen = useMemo(
    () => (opened: string, runId?: string) => {
      last.current = opened;
      setKey(opened);
      set({ call: opened }, runId === undefined ? {} : { runId });
    },
    [set],
  );
  return { key, onOpen };
}

/** During a run its newest row stays in view, unless the user scrolls away from it. */
function useStickToEnd(
  list: RefObject<VirtualizerHandle | null>,
  count: number,
  isLive: boolean,
): (offset: number) => void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isLive && isAtEnd.current && count > 0) list.current?.scrollToIndex(count - 1, { align: 'end' });
  }, [list, count, isLive]);
  return useCallback(
    (offset) => {
      const { scrollSize = 0, viewportSize = 0 } = list.current ?? {};
      isAtEnd.current = offset + viewportSize >= scrollSize - ROW_HEIGHT;
    },
    [list],
  );
}

const ROW_HEIGHT = 28;

/** A link to a call scrolls to the call, once its row is there. */
function useOpenInView(rows: readonly TimelineRow[], open: string | undefined, reveal: (index: number) => void): void {
  const index = rows.findIndex((row) => (row.kind === 'call' ? row.callId : row.key) === open);
  const isThere = index !== -1;
  useEffect(() => {
    if (isThere) reveal(index);
    // Only when the page opens with it: later the user scrolls.
  }, [isThere]);
}

/** When a run of the task was active. */
function spansOf({ runs }: Story, rows: readonly TimelineRow[], now: number): readonly Span[] {
  const spans = rows.flatMap((row): readonly Span[] => {
    if (row.kind === 'step') return [{ from: row.startedAt ?? row.endedAt, to: row.endedAt }];
    if (row.kind === 'asking') return [{ from: row.at, to: now }];
    if (row.kind !== 'call' || row.startedAt === undefined || NEVER_RAN.has(row.outcome)) return [];
    // It is not known when the call was lost: the time until that was noticed counts as idle.
    if (row.outcome === 'unknown')
      return [row.startedAt, row.endedAt ?? row.startedAt].map((at) => ({ from: at, to: at }));
    const end = row.outcome === 'running' ? now : row.endedAt;
    // Of a lost attempt, only its start is known to be activity.
    const lost = row.lostAttempts.map(({ startedAt }) => ({ from: startedAt, to: startedAt }));
    return [...lost, { from: row.startedAt, to: Math.max(row.startedAt, end ?? row.startedAt) }];
  });
  const bounds = runs.flatMap(({ createdAt, endedAt = createdAt }) => [createdAt, endedAt]);
  return [...spans, ...bounds.map((at) => ({ from: at, to: at }))];
}
