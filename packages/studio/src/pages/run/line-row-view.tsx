import {
  ArrowLeftRight,
  CornerDownRight,
  Flag,
  LoaderCircle,
  type LucideIcon,
  MessageSquareWarning,
  Scissors,
  ScrollText,
  Undo2,
} from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { withVisibleControls } from '../../text/visible-text.ts';
import { duration } from '../../ui/time.tsx';
import { workerName } from './call-words.ts';
import { rowClass } from './row-class.ts';
import { followInPage } from './state-link.tsx';
import { TimeBar } from './time-bar.tsx';
import type { TimeScale } from './time-scale.ts';
import type { LineRow, StepRow } from './timeline.ts';

interface StepRowProps {
  readonly row: StepRow;
  readonly runId: string;
  readonly scale: TimeScale;
  readonly isOpen: boolean;
  readonly onOpen: (key: string) => void;
}

/** A reply of the model: what it said, its tokens, how long it took. */
export function StepRowView({ row, runId, scale, isOpen, onOpen }: StepRowProps): ReactElement {
  const { step, text, usage, startedAt, endedAt, attempts } = row;
  return (
    <a
      href={`/runs/${runId}?call=step-${step}`}
      aria-current={isOpen ? 'true' : undefined}
      onClick={(event) => followInPage(event, () => onOpen(`step-${step}`))}
      className={`${rowClass} border-t border-line bg-ground hover:bg-raised aria-[current=true]:bg-accent-soft`}
    >
      <span className="font-semibold whitespace-nowrap wide:col-span-2">
        Step {step}{' '}
        <span className="font-normal text-quiet">model{attempts > 1 ? `, asked ${attempts} times` : ''}</span>
      </span>
      <span dir="auto" className="truncate">
        {withVisibleControls(firstLineOf(text))}
      </span>
      <span className="text-right text-xs whitespace-nowrap text-quiet tabular-nums">
        {usage.totalTokens.toLocaleString()} tok
        {startedAt !== undefined && <span className="sr-only">, {duration(endedAt - startedAt)}</span>}
      </span>
      <span className="col-span-full h-2 self-stretch wide:col-span-1 wide:h-auto">
        <TimeBar scale={scale} from={startedAt} to={endedAt} look="model" />
      </span>
    </a>
  );
}

/** Whatever is neither a step nor a call: a line across the timeline. */
export function LineRowView({ row, stopped }: { row: LineRow; stopped: string }): ReactElement {
  const { icon: Icon, colour, words } = lineOf(row, stopped);
  const isRule = row.kind === 'takeover';
  return (
    <div className={`flex min-h-7 items-center gap-2 px-3 py-1 text-sm wide:py-0 ${colour}`}>
      {isRule && <span aria-hidden className="h-px w-4 bg-current" />}
      <Icon
        size={16}
        aria-hidden
        className={`shrink-0 ${row.kind === 'asking' ? 'animate-spin motion-reduce:animate-none' : ''}`}
      />
      <span dir="auto" className="min-w-0 truncate" title={typeof words === 'string' ? words : undefined}>
        {typeof words === 'string' ? withVisibleControls(words) : words}
      </span>
      {isRule && <span aria-hidden className="h-px min-w-4 flex-1 bg-current" />}
    </div>
  );
}

interface Line {
  readonly icon: LucideIcon;
  readonly colour: string;
  readonly words: ReactNode;
}

function lineOf(row: LineRow, stopped: string): Line {
  switch (row.kind) {
    case 'arrival': {
      const { by, text, spaceName } = row.arrival;
      const place = spaceName === undefined ? '' : ` in ${spaceName}`;
      return { icon: CornerDownRight, colour: '', words: `${by ?? row.arrival.type}${place}: ${firstLineOf(text)}` };
    }
    case 'message':
      return { icon: CornerDownRight, colour: 'text-quiet', words: `told as ${row.role}: ${firstLineOf(row.text)}` };
    case 'takeover': {
      const { from, to, silentMs } = row.takeover;
      const calls = `${row.repeated} ${row.repeated === 1 ? 'call' : 'calls'} repeated`;
      const words = `${workerName(from)} silent ${duration(silentMs)}, ${sameHost(from, to)} took over, ${calls}`;
      return { icon: ArrowLeftRight, colour: 'text-wait', words };
    }
    case 'nudge':
      return {
        icon: MessageSquareWarning,
        colour: 'text-quiet',
        words: `nudge, ${WHY[row.why]}: ${firstLineOf(row.text)}`,
      };
    case 'rewind':
      return { icon: Undo2, colour: 'text-doubt', words: rewindInWords(row) };
    case 'trimmed':
      return {
        icon: Scissors,
        colour: 'text-quiet',
        words: `the model no longer sees ${row.hidden} of the calls of step ${row.step}`,
      };
    case 'summary':
      return {
        icon: ScrollText,
        colour: 'text-quiet',
        words: `what came before was summarised: ${firstLineOf(row.text)}`,
      };
    case 'asking':
      return { icon: LoaderCircle, colour: 'text-accent', words: 'the model is being asked' };
    case 'stop':
      return { icon: Flag, colour: 'text-quiet', words: stopped };
  }
}

function rewindInWords({ text, remaining }: Extract<LineRow, { kind: 'rewind' }>): string {
  const left = remaining.length === 0 ? '' : `, ${remaining.length} could not be taken back`;
  return `rewind to the start of the turn${left}: ${firstLineOf(text)}`;
}

/** Two workers in one process have the same host and number. */
function sameHost(from: string | undefined, to: string | undefined): string {
  return workerName(from) === workerName(to) ? 'another worker there' : workerName(to);
}

const WHY = {
  'no-call': 'no tool was called',
  length: 'the reply was cut off',
  'last-word': 'no tools are left',
} as const;

function firstLineOf(text: string): string {
  return (text.trimStart().split('\n', 1)[0] ?? '').slice(0, 400);
}
