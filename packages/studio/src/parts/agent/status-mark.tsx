import type { Agent } from '@lastcall/client';
import { CirclePause, CirclePlay, type LucideIcon, TriangleAlert, X } from 'lucide-react';
import type { ReactElement } from 'react';

const LOOK: Readonly<Record<Agent['status'], { icon: LucideIcon; colour: string }>> = {
  active: { icon: CirclePlay, colour: 'text-ok' },
  paused: { icon: CirclePause, colour: 'text-wait' },
  invalid: { icon: TriangleAlert, colour: 'text-bad' },
  deleted: { icon: X, colour: 'text-quiet' },
};

export function StatusMark({ status }: Pick<Agent, 'status'>): ReactElement {
  const { icon: Icon, colour } = LOOK[status];
  return (
    <span className={`inline-flex items-center gap-1 ${colour}`}>
      <Icon size={16} aria-hidden className="shrink-0" />
      {status}
    </span>
  );
}
