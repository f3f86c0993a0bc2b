import type { ConnectionState, Run } from '@lastcall/client';
import { useRun } from '@lastcall/client/react';
import { type CallRow, type Timeline, type TimelineRow, toStory, type WrittenRun } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { type ReactElement, useMemo, useRef } from 'react';
import { agentOfRun, neighbourOf } from '../../data/runs.ts';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { callNumbers } from '../../parts/run/call-words.ts';
import { ForkWaits } from '../../parts/run/fork-waits.tsx';
import { statusInWords } from '../../parts/run/stop-sentence.ts';
import type { RunState } from '../../parts/run/timeline/run-state.ts';
import { TimelineView } from '../../parts/run/timeline/timeline-view.tsx';
import { type Task, useTask } from '../../parts/run/use-task.ts';
import { useReportConnection } from '../../parts/session/connection.tsx';
import { NotAllowed } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page, useTitle } from '../../parts/ui/page.tsx';
import { useNow } from '../../parts/ui/time.tsx';
import { AnswerView, answerOf } from './answer-view.tsx';
import { CallPanel, StepPanel } from './call-panel.tsx';
import { FailedRun } from './failed-run.tsx';
import { momentsOf, timelineAt } from './moments.ts';
import { ReplayBar } from './replay-bar.tsx';
import { filterRows, toOnly } from './row-filter.ts';
import { RunHeader } from './run-header.tsx';
import { RunPlan } from './run-plan.tsx';
import { SeenView } from './seen-view.tsx';
import { taskInWords } from './task-words.ts';
import { TimelineControls } from './timeline-controls.tsx';
import { useRunState } from './use-run-state.ts';

/** A run, call by call: what happened, in which order, with which results, and why it ended. */
export function RunPage(): ReactElement {
  if (useMay('read')) return <ReadRun />;
  return (
    <Page title="Run">
      <NotAllowed scope="read" to="see the runs" />
    </Page>
  );
}

function ReadRun(): ReactElement {
  const state = useRunState();
  const { run, entries, connection, error, cancel } = useRun(state.id);
  const task = useTask(state.id, run?.id === state.id ? run : undefined, entries);
  const last = useRef<Pick<LoadedRunProps, 'run' | 'task'>>(undefined);
  if (run !== undefined && task !== undefined) last.current = { run, task };
  // The previous run stays until the next one is loaded: an empty page for a moment would lose the reader's place.
  const shown = error === undefined || run !== undefined ? last.current : undefined;
  const isStale = shown?.run.id !== state.id;
  if (shown === undefined)
    return (
      <Page title="Run">
        {error !== undefined && (
          <ErrorNote error={error} title="This run cannot be shown.">
            <Link to="/runs" search={{}} className="link">
              All runs
            </Link>
          </ErrorNote>
        )}
      </Page>
    );
  return (
    <>
      {!isStale && isOpen(shown.run) && <ReportConnection state={connection} />}
      {/* Clicks there would be meant for the other run. */}
      <div className="contents" inert={isStale} aria-busy={isStale}>
        <LoadedRun key={shown.task.story.id} state={state} {...shown} cancel={cancel} />
      </div>
    </>
  );
}

function isOpen({ status }: Run): boolean {
  return status === 'running' || status === 'queued';
}

function ReportConnection({ state }: { state: ConnectionState }): null {
  useReportConnection(state);
  return null;
}

interface LoadedRunProps {
  readonly state: RunState;
  /** The run that the address names. The page shows its whole task. */
  readonly run: Run;
  readonly task: Task;
  readonly cancel: () => Promise<void>;
}

function LoadedRun({ state, run, task, cancel }: LoadedRunProps): ReactElement {
  const { story, parts } = task;
  const { data } = useQuery(agentOfRun(run.agentId, run.configVersion));
  const whole = useMemo(() => toStory(parts, story.waits), [parts, story.waits]);
  const own = useMemo(() => rowsOfRun(whole.rows, run), [whole, run]);
  const steps = own.filter(({ kind }) => kind === 'step').length;
  const { timeline, moments, number } = useReplay(state, whole);
  const isReplay = number !== undefined;
  const only = toOnly(state.search.only);
  const { q } = state.search;
  const rows = useMemo(() => filterRows(timeline.rows, { only, search: q }), [timeline, only, q]);
  const isSeen = state.search.view === 'seen';
  const answer = answerOf(story);
  const isAnswer = state.search.view === 'answer' && answer !== undefined;
  useTitle(`${taskInWords(story)}${data == null ? '' : `, ${data.agent.name}`}`);
  useNeighbourKeys(run);
  const open = isSeen || isAnswer ? undefined : openRow(timeline.rows, state);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className={`flex min-h-0 flex-1 flex-col overflow-y-auto ${open === undefined ? '' : 'max-wide:hidden'}`}>
        <RunHeader
          run={run}
          story={story}
          agent={data === null ? null : data?.agent}
          config={data?.config}
          steps={steps}
          cancel={cancel}
        >
          {story.status !== 'running' && !isReplay && moments.length > 0 && (
            <Button onClick={() => state.set({ moment: 1 })}>
              <History size={16} aria-hidden /> Replay
            </Button>
          )}
        </RunHeader>
        <FailedRun run={run} step={steps + 1} />
        <ForkWaits run={run} rows={own} />
        <RunPlan run={run} config={data?.config} />
        <TimelineControls
          state={state}
          rows={timeline.rows}
          only={only}
          isSeen={isSeen}
          hasAnswer={answer !== undefined}
        />
        {isReplay && <ReplayBar state={state} moments={moments} number={number} startedAt={story.startedAt} />}
        {isAnswer ? (
          <AnswerView answer={answer} rows={whole.rows} />
        ) : isSeen ? (
          <SeenView state={state} run={run} rows={own} />
        ) : (
          <Shown
            state={state}
            task={task}
            whole={whole}
            rows={rows}
            stopped={(ended) => statusInWords(ended, { config: data?.config, steps }).text}
            isFiltered={only !== undefined || q !== undefined}
          />
        )}
      </div>
      {open?.kind === 'call' && (
        <CallPanel
          state={state}
          run={runOf(parts, open.runId) ?? run}
          endedIn={runThatWrote(parts, open.endSeq) ?? run}
          call={open}
          numbers={callNumbers(timeline.rows)}
        />
      )}
      {open?.kind === 'step' && <StepPanel state={state} run={run} row={open} calls={callsOf(own)} />}
    </div>
  );
}

/** The rows of one run of the task. */
function rowsOfRun(rows: readonly TimelineRow[], { id }: Run): readonly TimelineRow[] {
  return rows.filter((row) => (row.kind === 'call' || row.kind === 'step' ? row.runId === id : false));
}

function runOf(parts: readonly WrittenRun[], id: string): Run | undefined {
  return parts.find(({ run }) => run.id === id)?.run;
}

/** A call that waited may have ended in a later run than the one that asked for it. */
function runThatWrote(parts: readonly WrittenRun[], seq: number | undefined): Run | undefined {
  return parts.find(({ entries }) => entries.some((entry) => entry.seq === seq))?.run;
}

function callsOf(rows: readonly TimelineRow[]): readonly CallRow[] {
  return rows.filter((row) => row.kind === 'call');
}

interface ShownProps {
  readonly state: RunState;
  readonly task: Task;
  readonly whole: Timeline;
  readonly rows: readonly TimelineRow[];
  /** Why a run ended, in words. */
  readonly stopped: (run: Run) => string;
  readonly isFiltered: boolean;
}

function Shown({ state, task, whole, rows, stopped, isFiltered }: ShownProps): ReactElement {
  const { story } = task;
  // The same component for an active and an ended task, so that the list keeps its place when it ends.
  const tick = useNow(story.status === 'running' ? 1_000 : 60_000);
  if (isFiltered && rows.length === 0)
    return (
      <p className="flex-1 p-4 text-quiet">No call of this run matches. Choose All, or search for something else.</p>
    );
  return (
    <TimelineView
      state={state}
      story={story}
      all={whole.rows}
      rows={rows}
      stopped={stopped}
      now={story.endedAt ?? tick}
    />
  );
}

function useReplay(state: RunState, whole: Timeline) {
  const { moment } = state.search;
  const moments = useMemo(() => momentsOf(whole), [whole]);
  const number =
    moment === undefined ? undefined : Math.min(Math.max(1, Math.round(moment)), Math.max(1, moments.length));
  const timeline = useMemo(
    () => (number === undefined ? whole : timelineAt(whole, moments, number)),
    [whole, moments, number],
  );
  return { timeline, moments, number };
}

/** A step is named by its number in the run that the address names. */
function openRow(rows: readonly TimelineRow[], { id, search: { call: open } }: RunState): TimelineRow | undefined {
  if (open === undefined) return undefined;
  return rows.find((row) => {
    if (row.kind === 'call') return row.callId === open;
    return row.kind === 'step' && row.runId === id && `step-${row.step}` === open;
  });
}

/** `[` and `]` lead to the agent's previous and next run. */
function useNeighbourKeys(run: Run): void {
  const navigate = useNavigate();
  const go = (side: 'before' | 'after'): void => {
    void neighbourOf(run, side).then(async (id) => {
      if (id !== undefined) await navigate({ to: '/runs/$id', params: { id }, search: {} });
    });
  };
  useKeys({
    '[': { label: 'The run before', run: () => go('before') },
    ']': { label: 'The run after', run: () => go('after') },
  });
}
