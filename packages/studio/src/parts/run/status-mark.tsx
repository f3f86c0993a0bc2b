import type { Run } from '@lastcall/client';
import { Ban, CircleCheck, CircleX, Clock, Hourglass, LoaderCircle, type LucideIcon, OctagonPause } from 'lucide-react';
import type { ReactElement } from 'react';

/** The statuses of runs by which a list can be filtered, with their words. */
export const RUN_STATUSES = {
  running: 'running',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Readonly<Partial<Record<Run['status'], string>>>;

interface Look {
  readonly icon: LucideIcon;
  readonly colour: string;
}

const LOOKS: Readonly<Record<Run['status'], Look>> = {
  queued: { icon: Clock, colour: 'text-quiet' },
  running: { icon: LoaderCircle, colour: 'text-accent animate-spin motion-reduce:animate-none' },
  waiting: { icon: Hourglass, colour: 'text-wait' },
  completed: { icon: CircleCheck, colour: 'text-ok' },
  failed: { icon: CircleX, colour: 'text-bad' },
  cancelled: { icon: Ban, colour: 'text-quiet' },
};

/** A run that a limit stopped has not done all of its work. */
const CUT_OFF: Look = { icon: OctagonPause, colour: 'text-wait' };
const FINISHED: ReadonlySet<string> = new Set(['end_turn', 'transition', 'suspended']);

/** The status of a run, as an icon. The words are beside it. */
export function StatusMark({ run: { status, stop } }: { run: Pick<Run, 'status' | 'stop'> }): ReactElement {
  const isCutOff = status === 'completed' && stop !== undefined && !FINISHED.has(stop.reason);
  const { icon: Icon, colour } = isCutOff ? CUT_OFF : LOOKS[status];
  return <Icon size={16} aria-hidden className={`shrink-0 ${colour}`} />;
}
