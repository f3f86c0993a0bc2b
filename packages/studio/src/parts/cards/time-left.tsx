import { Hourglass } from 'lucide-react';
import type { ReactElement } from 'react';
import { client } from '../../data/client.ts';
import { duration, useNow } from '../ui/time.tsx';

/** How long the call can still be answered, by the gateway's clock. Screen readers do not read it out each second. */
export function TimeLeft({ expiresAt }: { expiresAt: number | undefined }): ReactElement {
  useNow(1_000);
  const left = expiresAt === undefined ? undefined : expiresAt - client.now();
  const isShort = left !== undefined && left < 60_000;
  return (
    <span className={`inline-flex items-center gap-1 tabular-nums ${isShort ? 'font-medium text-wait' : 'text-quiet'}`}>
      <Hourglass size={16} aria-hidden className="shrink-0" />
      {leftInWords(left)}
    </span>
  );
}

function leftInWords(left: number | undefined): string {
  if (left === undefined) return 'no time limit';
  if (left <= 0) return 'time is up';
  const seconds = Math.ceil(left / 1_000);
  return seconds < 60 ? `${seconds} s left` : `${duration(left)} left`;
}
