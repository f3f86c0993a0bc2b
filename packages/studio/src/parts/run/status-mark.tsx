import type { Run } from '@lastcall/client';
import { Ban, CircleCheck, CircleX, Clock, Hourglass, LoaderCircle, type LucideIcon, OctagonPause } from 'lucide-react';
import type { ReactElement } from 'react';

/** The state of a run, as an icon. The words are beside it. */
export function StatusMark({ run }: { run: Pick<Run, 'status' | 'stop'> }): ReactElement {
  const { icon: Icon, colour } = lookOf(run);
  return <Icon size={16} aria-hidden className={`shrink-0 ${colour}`} />;
}

function lookOf({ status, stop }: Pick<Run, 'status' | 'stop'>): { icon: LucideIcon; colour: string } {
  if (status === 'running')
    return { icon: LoaderCircle, colour: 'text-accent animate-spin motion-reduce:animate-none' };
  if (status === 'queued') return { icon: Clock, colour: 'text-quiet' };
  if (status === 'cancelled') return { icon: Ban, colour: 'text-quiet' };
  if (status === 'failed') return { icon: CircleX, colour: 'text-bad' };
  if (stop?.reason === 'suspended') return { icon: Hourglass, colour: 'text-wait' };
  return stop === undefined || stop.reason === 'end_turn' || stop.reason === 'transition'
    ? { icon: CircleCheck, colour: 'text-ok' }
    : { icon: OctagonPause, colour: 'text-wait' };
}
