import type { Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { LineRow, StepRow } from '@lastcall/client/timeline';
import { Link } from '@tanstack/react-router';
import {
  ArrowLeftRight,
  CornerDownRight,
  Flag,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  MessageSquareWarning,
  Scissors,
  ScrollText,
  SquareTerminal,
  Undo2,
} from 'lucide-react';
import type { ReactElement } from 'react';
import { followInPage } from '../../ui/follow-in-page.ts';
import { duration, useNow } from '../../ui/time.tsx';
import { originInWords } from '../call-words.ts';
import { StatusMark } from '../status-mark.tsx';
import { tokensInWords } from '../usage-words.ts';
import { waitLineInWords } from '../wait-words.ts';
import { ExactTime } from './exact-time.tsx';
import { firstLineOf, lineInWords } from './line-words.ts';
import { rowClass } from './row-class.ts';
import { TimeBar } from './time-bar.tsx';
import type { TimeScale } from './time-scale.ts';

interface StepRowProps {
  readonly row: StepRow;
  readonly scale: TimeScale;
  readonly isOpen: boolean;
  readonly onOpen: (key: string, runId?: string) => void;
}

/** A reply of the model: its text, its tokens, how long it took. */
export function StepRowView({ row, scale, isOpen, onOpen }: StepRowProps): ReactElement {
  const { step, runId, origin, text, usage, startedAt, endedAt, attempts } = row;
  return (
    <a
      href={`/runs/${runId}?call=step-${step}`}
      aria-current={isOpen ? 'true' : undefined}
      onClick={(event) => followInPage(event, () => onOpen(`step-${step}`, runId))}
      className={`${rowClass} border-t border-line bg-ground hover:bg-raised aria-[current=true]:bg-selected`}
    >
      <span className="truncate font-semibold wide:col-span-2">
        Step {step}{' '}
        <span className="font-normal text-quiet">
          {origin === undefined ? 'model' : withVisibleControls(originInWords(origin))}
          {attempts > 1 ? `, asked ${attempts} times` : ''}
        </span>
      </span>
      <span dir="auto" className="truncate">
        {withVisibleControls(firstLineOf(text))}
      </span>
      <span className="text-right text-xs whitespace-nowrap text-quiet tabular-nums">
        {tokensInWords(usage)} tok
        {startedAt !== undefined && <span className="sr-only">, {duration(endedAt - startedAt)}</span>}
      </span>
      <span className="col-span-full h-2 self-stretch wide:col-span-1 wide:h-auto">
        <TimeBar scale={scale} from={startedAt} to={endedAt} look="model" />
      </span>
    </a>
  );
}

interface LineRowProps {
  readonly row: LineRow;
  readonly scale: TimeScale;
  readonly stopped: (run: Run) => string;
}

/** A further run of the task. */
function RunRowView({ row }: { row: Extract<LineRow, { kind: 'run' }> }): ReactElement {
  const { run, at } = row;
  return (
    <Link
      to="/runs/$id"
      params={{ id: run.id }}
      search={{}}
      className="mt-2 flex min-h-8 items-center gap-2 border-t-2 border-line bg-ground px-4 wide:px-6 text-sm font-semibold hover:bg-raised"
    >
      <StatusMark run={run} />
      {lineInWords(row, () => '')}
      <span className="font-normal text-quiet">
        <ExactTime at={at} />
        {run.endedAt !== undefined && `, ${duration(run.endedAt - run.createdAt)}`}
      </span>
    </Link>
  );
}

/** How long people took: the time is drawn as a wait, and not as work. */
function WaitRowView({
  row: { wait },
  scale,
}: {
  row: Extract<LineRow, { kind: 'wait' }>;
  scale: TimeScale;
}): ReactElement {
  const words = withVisibleControls(waitLineInWords(wait));
  return (
    <div className={`${rowClass} text-wait`}>
      <Hourglass size={16} aria-hidden className="shrink-0 wide:justify-self-end" />
      <span className="wide:contents">
        <span className="hidden wide:block">{wait.until === undefined ? 'waiting' : 'waited'}</span>
        <span dir="auto" className="min-w-0 truncate" title={words}>
          {words}
        </span>
      </span>
      <span className="text-right text-xs tabular-nums">
        {wait.until === undefined ? <Waiting since={wait.since} /> : duration(wait.until - wait.since)}
      </span>
      <span className="col-span-full h-2 self-stretch wide:col-span-1 wide:h-auto">
        <TimeBar scale={scale} from={wait.since} to={wait.until} look="waiting" />
      </span>
    </div>
  );
}

function Waiting({ since }: { since: number }): ReactElement {
  return <>{duration(Math.max(0, useNow() - since))}</>;
}

/** Everything that is neither a step nor a call: a line across the timeline. */
export function LineRowView({ row, scale, stopped }: LineRowProps): ReactElement {
  if (row.kind === 'run') return <RunRowView row={row} />;
  if (row.kind === 'wait') return <WaitRowView row={row} scale={scale} />;
  const { icon: Icon, colour } = LOOK[row.kind];
  const words = withVisibleControls(lineInWords(row, stopped));
  const isRule = row.kind === 'takeover';
  return (
    <div className={`flex min-h-7 items-center gap-2 px-4 wide:px-6 py-1 text-sm wide:py-0 ${colour}`}>
      {isRule && <span aria-hidden className="h-px w-4 bg-current" />}
      <Icon
        size={16}
        aria-hidden
        className={`shrink-0 ${row.kind === 'asking' ? 'animate-spin motion-reduce:animate-none' : ''}`}
      />
      <span dir="auto" className="min-w-0 truncate" title={words}>
        {words}
      </span>
      {isRule && <span aria-hidden className="h-px min-w-4 flex-1 bg-current" />}
    </div>
  );
}

const LOOK: Readonly<Record<LineRow['kind'], { readonly icon: LucideIcon; readonly colour: string }>> = {
  arrival: { icon: CornerDownRight, colour: '' },
  message: { icon: CornerDownRight, colour: 'text-quiet' },
  takeover: { icon: ArrowLeftRight, colour: 'text-wait' },
  nudge: { icon: MessageSquareWarning, colour: 'text-quiet' },
  rewind: { icon: Undo2, colour: 'text-doubt' },
  trimmed: { icon: Scissors, colour: 'text-quiet' },
  command: { icon: SquareTerminal, colour: '' },
  summary: { icon: ScrollText, colour: 'text-quiet' },
  asking: { icon: LoaderCircle, colour: 'text-accent' },
  stop: { icon: Flag, colour: 'text-quiet' },
  run: { icon: Flag, colour: '' },
  wait: { icon: Hourglass, colour: 'text-wait' },
};
