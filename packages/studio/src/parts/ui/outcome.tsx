import type { CallStatus } from '@lastcall/client/timeline';
import {
  Ban,
  Check,
  CircleDashed,
  CircleHelp,
  FastForward,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  Minus,
  TimerOff,
  X,
} from 'lucide-react';
import type { ReactElement } from 'react';

interface Look {
  readonly word: string;
  readonly icon: LucideIcon;
  readonly colour: string;
}

/** Word, then icon, then colour: no meaning is in the colour alone. */
export const OUTCOMES: Readonly<Record<CallStatus, Look>> = {
  ok: { word: 'ok', icon: Check, colour: 'text-ok' },
  denied: { word: 'denied', icon: Ban, colour: 'text-quiet' },
  expired: { word: 'expired', icon: TimerOff, colour: 'text-quiet' },
  error: { word: 'error', icon: X, colour: 'text-bad' },
  unknown: { word: 'unknown outcome', icon: CircleHelp, colour: 'text-doubt' },
  waiting: { word: 'waiting', icon: Hourglass, colour: 'text-wait' },
  cancelled: { word: 'cancelled', icon: Minus, colour: 'text-quiet' },
  skipped: { word: 'skipped', icon: FastForward, colour: 'text-quiet' },
  running: { word: 'running', icon: LoaderCircle, colour: 'text-accent' },
  planned: { word: 'not started', icon: CircleDashed, colour: 'text-quiet' },
};

/** `detail` follows the word, e.g. the code of an error. */
export function OutcomeMark({ name, detail }: { name: CallStatus; detail?: string | undefined }): ReactElement {
  const { word, icon: Icon, colour } = OUTCOMES[name];
  return (
    <span className={`inline-flex items-center gap-1 ${colour}`}>
      <Icon size={16} aria-hidden className="shrink-0" />
      <span>{detail === undefined ? word : `${word} ${detail}`}</span>
    </span>
  );
}
