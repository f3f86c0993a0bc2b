import type { Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { type CallRow, toTimeline } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ArrowLeft, ArrowRight, Equal, EqualNot, type LucideIcon } from 'lucide-react';
import { type ReactElement, useMemo, useState } from 'react';
import { endedRun } from '../../data/runs.ts';
import { codeOf, inputInWords } from '../../parts/run/call-words.ts';
import { changesInForkWords } from '../../parts/run/fork-words.ts';
import { StatusMark } from '../../parts/run/status-mark.tsx';
import { statusInWords } from '../../parts/run/stop-sentence.ts';
import { triggerInWords } from '../../parts/run/trigger-words.ts';
import { tokensInWords } from '../../parts/run/usage-words.ts';
import { useAgentName } from '../../parts/run/use-agent-name.ts';
import { NotAllowed } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { JsonText } from '../../parts/text/safe-text.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { LineDiff } from '../../parts/ui/line-diff.tsx';
import { OutcomeMark } from '../../parts/ui/outcome.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { duration, Time } from '../../parts/ui/time.tsx';
import { type Aligned, alignCalls, inputOf } from './align-calls.ts';
import { RequestsDiff } from './requests-diff.tsx';
import { RunsTable } from './runs-table.tsx';

/**
 * Compares two runs: which calls are the same, which differ, and which only one of them made. The address may name several others, such as
 * all forks of a run: then a table compares them, and one is chosen for the details.
 */
export function ComparePage(): ReactElement {
  if (useMay('read')) return <ReadRuns />;
  return (
    <Page title="Compare">
      <NotAllowed scope="read" to="compare runs" />
    </Page>
  );
}

function ReadRuns(): ReactElement {
  const { id, other } = useParams({ from: '/runs/$id/compare/$other' });
  const others: readonly string[] = useMemo(() => String(other).split(',').slice(0, MOST_RUNS), [other]);
  const [chosen, setChosen] = useState<string>();
  const rightId = others.find((one) => one === chosen) ?? others[0] ?? id;
  const left = useQuery(endedRun(id));
  const right = useQuery(endedRun(rightId));
  const error = left.error ?? right.error;
  const aligned = useMemo(
    () =>
      left.data === undefined || right.data === undefined ? [] : alignCalls(callsOf(left.data), callsOf(right.data)),
    [left.data, right.data],
  );
  const runs = left.data && right.data && ([left.data.run, right.data.run] as const);
  return (
    <Page title={runs === undefined ? 'Compare' : titleOf(runs)}>
      {error !== null && <ErrorNote error={error} title="These runs cannot be compared." />}
      {others.length > 1 && <RunsTable ids={[id, ...others]} chosen={rightId} onChoose={setChosen} />}
      {runs !== undefined && <Comparison runs={runs} aligned={aligned} />}
      {left.data !== undefined && right.data !== undefined && <RequestsDiff left={left.data} right={right.data} />}
    </Page>
  );
}

function titleOf([left, right]: readonly [Run, Run]): string {
  const words = `Compare “${triggerInWords(left)}”`;
  if (right.fork?.runId === left.id) return `${words} with its fork`;
  if (right.retryOf === left.id) return `${words} with its next attempt`;
  return `${words} with “${triggerInWords(right)}”`;
}

/** The address of a page has room for this many ids. */
const MOST_RUNS = 50;

function callsOf({ run, entries }: { run: Run; entries: Parameters<typeof toTimeline>[1] }): readonly CallRow[] {
  return toTimeline(run, entries).rows.filter((row) => row.kind === 'call');
}

function Comparison({ runs, aligned }: { runs: readonly [Run, Run]; aligned: readonly Aligned[] }): ReactElement {
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const different = aligned.filter(({ kind }) => kind !== 'same');
  const shown = onlyDifferent ? different : aligned;
  return (
    <>
      <div className="grid gap-3 wide:grid-cols-2">
        {runs.map((run) => (
          <RunSummary key={run.id} run={run} />
        ))}
      </div>
      <p className="flex flex-wrap items-center justify-between gap-2 text-sm">
        <span>{inSentence(aligned)}</span>
        <label className="inline-flex items-center gap-1.5 text-quiet">
          <input
            type="checkbox"
            className="accent-text"
            checked={onlyDifferent}
            onChange={({ target }) => setOnlyDifferent(target.checked)}
          />
          only what differs
        </label>
      </p>
      <ol aria-label="Calls of both runs" className="flex flex-col rounded-card border border-line bg-surface">
        {shown.map((one) => (
          <AlignedRow
            key={keyOf(one)}
            aligned={one}
            isOpenAtFirst={one.kind === 'changed' && different.length <= MOST_OPEN}
          />
        ))}
      </ol>
    </>
  );
}

function inSentence(aligned: readonly Aligned[]): string {
  const count = (kind: Aligned['kind']): number => aligned.filter((one) => one.kind === kind).length;
  const same = count('same');
  const parts = [
    `${same} ${same === 1 ? 'call is' : 'calls are'} the same`,
    `${count('changed')} changed`,
    `${count('left')} only left`,
    `${count('right')} only right`,
  ];
  return parts.join(', ');
}

function keyOf(aligned: Aligned): string {
  return aligned.kind === 'right' ? aligned.right.callId : aligned.left.callId;
}

function RunSummary({ run }: { run: Run }): ReactElement {
  const name = useAgentName(run);
  return (
    <section
      aria-label={`Run ${run.number}`}
      className="flex min-w-0 flex-col gap-1 rounded-card border border-line bg-surface p-3"
    >
      <h2 className="flex flex-wrap items-center gap-x-2 font-semibold">
        <Link to="/runs/$id" params={{ id: run.id }} search={{}} className="link">
          Run {run.number}
        </Link>
        <bdi className="font-normal">{withVisibleControls(name)}</bdi>
        <span className="text-xs font-normal text-quiet">attempt {run.attempt}</span>
      </h2>
      <p className="flex items-center gap-1.5 text-sm">
        <StatusMark run={run} /> <span dir="auto">{withVisibleControls(statusInWords(run).text)}</span>
      </p>
      <p dir="auto" className="truncate text-sm">
        {withVisibleControls(triggerInWords(run))}
      </p>
      {run.fork !== undefined && (
        <p className="text-sm">
          fork at step {run.fork.atStep}, {changesInForkWords(run.fork.changes)}
        </p>
      )}
      {run.response !== undefined && (
        <p dir="auto" className="line-clamp-3 text-sm text-quiet">
          {withVisibleControls(run.response)}
        </p>
      )}
      <p className="flex gap-3 text-xs text-quiet tabular-nums">
        <Time at={run.createdAt} />
        {run.endedAt !== undefined && <span>{duration(run.endedAt - run.createdAt)}</span>}
        {run.usage !== undefined && <span>{tokensInWords(run.usage)} tokens</span>}
        <span>configuration v{run.configVersion}</span>
      </p>
    </section>
  );
}

const KINDS: Readonly<
  Record<Aligned['kind'], { readonly word: string; readonly icon: LucideIcon; readonly colour: string }>
> = {
  same: { word: 'same', icon: Equal, colour: 'text-quiet' },
  changed: { word: 'changed', icon: EqualNot, colour: 'text-wait' },
  left: { word: 'only left', icon: ArrowLeft, colour: 'text-text' },
  right: { word: 'only right', icon: ArrowRight, colour: 'text-text' },
};

/** If no more than this many calls differ, what differs is shown at once. */
const MOST_OPEN = 3;

function AlignedRow({ aligned, isOpenAtFirst }: { aligned: Aligned; isOpenAtFirst: boolean }): ReactElement {
  // Until the user opens or closes it: a call of a run that goes on may differ only later.
  const [chosen, setOpen] = useState<boolean>();
  const isOpen = chosen ?? isOpenAtFirst;
  const { word, icon: Icon, colour } = KINDS[aligned.kind];
  const call = aligned.kind === 'right' ? aligned.right : aligned.left;
  const what = aligned.kind === 'changed' ? `: ${aligned.what.join(', ')}` : '';
  return (
    <li className="border-b border-line last:border-b-0">
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="grid min-h-9 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 px-3 py-1 text-sm hover:bg-raised wide:grid-cols-[11rem_minmax(0,1fr)_10rem_10rem]">
          <span className={`inline-flex items-center gap-1 max-wide:col-start-1 max-wide:row-start-1 ${colour}`}>
            <Icon size={16} aria-hidden className="shrink-0" /> {word}
            {what}
          </span>
          <span className="col-span-full row-start-2 flex min-w-0 gap-2 wide:col-span-1 wide:row-start-auto">
            <bdi className="max-w-full shrink-0 truncate font-medium">{withVisibleControls(call.toolName)}</bdi>
            <span dir="auto" className="truncate text-quiet">
              {withVisibleControls(inputInWords(call.asked))}
            </span>
          </span>
          <Side
            call={aligned.kind === 'right' ? undefined : aligned.left}
            side="left"
            isMain={aligned.kind !== 'right'}
          />
          <Side
            call={aligned.kind === 'left' ? undefined : aligned.right}
            side="right"
            isMain={aligned.kind === 'right'}
          />
        </summary>
        {isOpen && <Difference aligned={aligned} />}
      </details>
    </li>
  );
}

interface SideProps {
  readonly call: CallRow | undefined;
  readonly side: 'left' | 'right';
  /** A narrow screen has room for one of them. */
  readonly isMain: boolean;
}

function Side({ call, side, isMain }: SideProps): ReactElement {
  return (
    <span className={`flex items-center ${isMain ? 'max-wide:col-start-2 max-wide:row-start-1' : 'max-wide:hidden'}`}>
      <span className="sr-only">{side}: </span>
      {call === undefined ? (
        <span className="text-quiet">no such call</span>
      ) : (
        <OutcomeMark name={call.outcome} detail={codeOf(call)} />
      )}
    </span>
  );
}

/** Both inputs and both outputs, line by line. */
function Difference({ aligned }: { aligned: Aligned }): ReactElement {
  const left = aligned.kind === 'right' ? undefined : aligned.left;
  const right = aligned.kind === 'left' ? undefined : aligned.right;
  return (
    <div className="grid gap-3 p-3 pt-1 wide:grid-cols-2">
      <Titled title="Input">
        <Both what="Input" texts={[left, right].map((call) => call && inputOf(call))} />
      </Titled>
      <Titled title="Output">
        <Both what="Output" texts={[left, right].map((call) => call && outputText(call))} />
      </Titled>
      <p className="flex gap-3 text-sm">
        {[left, right].map(
          (call, index) =>
            call !== undefined && (
              <Link key={call.callId} to="/calls/$id" params={{ id: call.callId }} className="link">
                {index === 0 ? 'Open the left call' : 'Open the right call'}
              </Link>
            ),
        )}
      </p>
    </div>
  );
}

function Titled({ title, children }: { title: string; children: React.ReactNode }): ReactElement {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-1">
      <h3 className="text-xs font-medium text-quiet">{title}</h3>
      {children}
    </section>
  );
}

/** If only one of them has a value, it is shown as it is. */
function Both({ what, texts: [left, right] }: { what: string; texts: readonly (string | undefined)[] }): ReactElement {
  if (left === undefined || right === undefined || left === right)
    return <JsonText value={left ?? right} label={what} />;
  return <LineDiff label={`${what}, left and right`} before={left} after={right} />;
}

function outputText({ settlement }: CallRow): string {
  const outcome = settlement?.outcome;
  if (outcome === undefined) return '';
  if (outcome.status === 'ok' && typeof outcome.value === 'object') return JSON.stringify(outcome.value, null, 2);
  return outcome.text;
}
