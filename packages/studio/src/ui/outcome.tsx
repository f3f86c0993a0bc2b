import type { Outcome } from '@lastcall/client';
import {
  Check,
  CircleDashed,
  CircleHelp,
  FastForward,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  Minus,
  X,
} from 'lucide-react';
import type { ReactElement } from 'react';

/** The state of a call, as the user sees it. */
export type OutcomeName = 'ok' | 'error' | 'unknown' | 'waiting' | 'cancelled' | 'skipped' | 'running' | 'planned';

interface Look {
  readonly word: string;
  readonly icon: LucideIcon;
  readonly colour: string;
}

/** Word, then icon, then colour: no meaning is in the colour alone. */
export const OUTCOMES: Readonly<Record<OutcomeName, Look>> = {
  ok: { word: 'ok', icon: Check, colour: 'text-ok' },
  error: { word: 'error', icon: X, colour: 'text-bad' },
  unknown: { word: 'unknown outcome', icon: CircleHelp, colour: 'text-doubt' },
  waiting: { word: 'waiting', icon: Hourglass, colour: 'text-wait' },
  cancelled: { word: 'cancelled', icon: Minus, colour: 'text-quiet' },
  skipped: { word: 'skipped', icon: FastForward, colour: 'text-quiet' },
  running: { word: 'running', icon: LoaderCircle, colour: 'text-accent' },
  planned: { word: 'not started', icon: CircleDashed, colour: 'text-quiet' },
};

/** An error with a possible effect, or with an unknown end, is shown as unknown. */
export function outcomeName(outcome: Outcome | undefined): OutcomeName {
  if (outcome === undefined) return 'running';
  if (outcome.status === 'pending') return 'waiting';
  if (outcome.status !== 'error') return outcome.status;
  return outcome.effect === 'possible' || outcome.code === 'unknown_outcome' ? 'unknown' : 'error';
}

/** `detail` follows the word, e.g. the code of an error. */
export function OutcomeMark({ name, detail }: { name: OutcomeName; detail?: string | undefined }): ReactElement {
  const { word, icon: Icon, colour } = OUTCOMES[name];
  return (
    <span className={`inline-flex items-center gap-1 ${colour}`}>
      <Icon size={16} aria-hidden className="shrink-0" />
      <span>{detail === undefined ? word : `${word} ${detail}`}</span>
    </span>
  );
}
