import { withVisibleControls } from '@lastcall/client/react';
import type { LineRow, StepRow } from '@lastcall/client/timeline';
import {
  ArrowLeftRight,
  CornerDownRight,
  Flag,
  LoaderCircle,
  type LucideIcon,
  MessageSquareWarning,
  Scissors,
  ScrollText,
  SquareTerminal,
  Undo2,
} from 'lucide-react';
import type { ReactElement } from 'react';
import { duration } from '../../parts/ui/time.tsx';
import { originInWords } from './call-words.ts';
import { firstLineOf, lineInWords } from './line-words.ts';
import { rowClass } from './row-class.ts';
import { followInPage } from './state-link.tsx';
import { TimeBar } from './time-bar.tsx';
import type { TimeScale } from './time-scale.ts';
import { tokensInWords } from '../../parts/run/usage-words.ts';

interface StepRowProps {
  readonly row: StepRow;
  readonly runId: string;
  readonly scale: TimeScale;
  readonly isOpen: boolean;
  readonly onOpen: (key: string) => void;
}

/** A reply of the model: its text, its tokens, how long it took. */
export function StepRowView({ row, runId, scale, isOpen, onOpen }: StepRowProps): ReactElement {
  const { step, origin, text, usage, startedAt, endedAt, attempts } = row;
  return (
    <a
      href={`/runs/${runId}?call=step-${step}`}
      aria-current={isOpen ? 'true' : undefined}
      onClick={(event) => followInPage(event, () => onOpen(`step-${step}`))}
      className={`${rowClass} border-t border-line bg-ground hover:bg-raised aria-[current=true]:bg-accent-soft`}
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

/** Everything that is neither a step nor a call: a line across the timeline. */
export function LineRowView({ row, stopped }: { row: LineRow; stopped: string }): ReactElement {
  const { icon: Icon, colour } = LOOK[row.kind];
  const words = withVisibleControls(lineInWords(row, stopped));
  const isRule = row.kind === 'takeover';
  return (
    <div className={`flex min-h-7 items-center gap-2 px-3 py-1 text-sm wide:py-0 ${colour}`}>
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
};
