import type { Agent, ConnectionState } from '@lastcall/client';
import { useRun } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react';
import type { DraftTurn } from '../../../data/drafts.ts';
import { turnsBefore } from '../../../data/drafts.ts';
import { useTask } from '../../../parts/run/use-task.ts';
import { useReportConnection } from '../../../parts/session/connection.tsx';
import { Requires } from '../../../parts/session/requires.tsx';
import { DraftChat } from './draft-chat.tsx';
import { DraftEditor } from './draft-editor.tsx';
import { DraftTimeline } from './draft-timeline.tsx';
import type { LiveTurn } from './live-turn.ts';
import { useWorkbench, type Workbench } from './use-workbench.ts';

const route = getRouteApi('/agents/$id');

/** Edit an agent, talk to it as it is edited, see what it does, compare, and save. */
export function WorkbenchTab({ agent }: { agent: Agent }): ReactElement {
  return (
    <Requires scope="write" to="try changes of an agent">
      <Bench agent={agent} />
    </Requires>
  );
}

const PANES = [
  { pane: 'edit', word: 'Edit' },
  { pane: 'chat', word: 'Chat' },
  { pane: 'timeline', word: 'Timeline' },
] as const;

function Bench({ agent }: { agent: Agent }): ReactElement {
  const bench = useWorkbench(agent);
  const search = route.useSearch();
  const { pane = 'chat' } = search;
  const sendRef = useRef<() => void>(undefined);
  useSendKey(sendRef);
  const [followed, setFollowed] = useState<LiveTurn>();
  const live = bench.runId === undefined ? undefined : liveOf(bench.runId, followed);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <nav
        aria-label="Parts of the workbench"
        className="flex gap-1 border-b border-line bg-surface px-4 py-1 wide:hidden"
      >
        {PANES.map(({ pane: to, word }) => (
          <Link
            key={to}
            to="/agents/$id"
            params={{ id: agent.id }}
            search={{ ...search, pane: to }}
            activeOptions={{ exact: true }}
            aria-current={to === pane ? 'page' : undefined}
            className="inline-flex min-h-9 items-center rounded px-3 text-quiet aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-text"
          >
            {word}
          </Link>
        ))}
      </nav>
      {bench.runId !== undefined && <FollowRun runId={bench.runId} onLive={setFollowed} />}
      <Panes bench={bench} pane={pane} live={live} sendRef={sendRef} />
    </div>
  );
}

/** Ctrl+Enter or Cmd+Enter, from every field: people who edit the instructions send again without leaving them. */
function useSendKey(send: RefObject<(() => void) | undefined>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      // A dialog has its own keys.
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      send.current?.();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [send]);
}

interface PanesProps {
  readonly bench: Workbench;
  readonly pane: string;
  readonly live: LiveTurn | undefined;
  readonly sendRef: RefObject<(() => void) | undefined>;
}

interface FollowRunProps {
  readonly runId: string;
  readonly onLive: (live: LiveTurn) => void;
}

/** Follows the newest run. It draws nothing, so that fields keep their text and the focus when the first run begins. */
function FollowRun({ runId, onLive }: FollowRunProps): ReactElement | null {
  const { run, entries, writing, connection, error, cancel } = useRun(runId, { withWriting: true });
  const task = useTask(runId, run?.id === runId ? run : undefined, entries);
  const { data: before } = useQuery(turnsBefore(runId));
  const last = useRef<DraftTurn>(undefined);
  if (task !== undefined) last.current = task;
  useEffect(() => {
    // The turn before stays until the next one is there: nothing jumps.
    const turn = task ?? last.current;
    onLive({ runId, before: before ?? [], turn, isLoaded: task !== undefined, writing, error, cancel });
  }, [onLive, runId, before, task, writing, error, cancel]);
  const isOpen = run === undefined || run.status === 'running' || run.status === 'queued';
  return isOpen ? <ReportConnection state={connection} /> : null;
}

/** What is known of the newest run. At first, nothing is. */
function liveOf(runId: string, followed: LiveTurn | undefined): LiveTurn {
  if (followed !== undefined) return followed.runId === runId ? followed : { ...followed, runId, isLoaded: false };
  const nothing = { before: [], turn: undefined, isLoaded: false, writing: '', error: undefined };
  return { runId, ...nothing, cancel: async () => {} };
}

/** While it is at work, the header tells whether its stream is there. */
function ReportConnection({ state }: { state: ConnectionState }): null {
  useReportConnection(state);
  return null;
}

function Panes({ bench, pane, live, sendRef }: PanesProps): ReactElement {
  const shownIf = (name: string): string => (pane === name ? '' : 'max-wide:hidden');
  return (
    <div
      className={`grid min-h-0 flex-1 grid-cols-1 grid-rows-1 wide:grid-cols-[minmax(20rem,2fr)_3fr] ${live === undefined ? 'wide:grid-rows-[minmax(0,1fr)_auto]' : 'wide:grid-rows-[minmax(0,1fr)_minmax(7rem,30%)]'}`}
    >
      <section
        aria-label="Edit"
        className={`min-h-0 overflow-y-auto border-line bg-surface wide:border-r ${shownIf('edit')}`}
      >
        <DraftEditor bench={bench} />
      </section>
      <section aria-label="Chat" className={`flex min-h-0 flex-col bg-ground ${shownIf('chat')}`}>
        <DraftChat bench={bench} live={live} sendRef={sendRef} />
      </section>
      <section
        aria-label="Timeline of the draft"
        className={`flex min-h-0 flex-col border-line wide:col-span-2 wide:border-t ${shownIf('timeline')}`}
      >
        <DraftTimeline live={live} />
      </section>
    </div>
  );
}
