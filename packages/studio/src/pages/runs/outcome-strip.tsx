import type { Run } from '@lastcall/client';
import type { OutcomeName } from '@lastcall/client/timeline';
import type { ReactElement } from 'react';
import { OUTCOMES } from '../../parts/ui/outcome.tsx';

/** How the calls of a run ended: an icon, a number and a word for each outcome. */
export function OutcomeStrip({ counts }: { counts: Run['counts'] }): ReactElement {
  const parts = ORDER.map((name) => ({ name, count: counts[name === 'waiting' ? 'pending' : name] })).filter(
    ({ count }) => count > 0,
  );
  if (parts.length === 0) return <span className="text-quiet">no calls</span>;
  return (
    <ul className="flex flex-wrap gap-x-3">
      {parts.map(({ name, count }) => {
        const { word, icon: Icon, colour } = OUTCOMES[name];
        return (
          <li key={name} className={`inline-flex items-center gap-1 whitespace-nowrap ${colour}`}>
            <Icon size={16} aria-hidden className="shrink-0" />
            <span className="tabular-nums">{count.toLocaleString()}</span> {word}
          </li>
        );
      })}
    </ul>
  );
}

const ORDER = ['running', 'waiting', 'error', 'ok', 'cancelled', 'skipped'] as const satisfies readonly OutcomeName[];
