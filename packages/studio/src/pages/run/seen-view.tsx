import type { Run } from '@lastcall/client';
import type { TimelineRow } from '@lastcall/client/timeline';
import type { ReactElement } from 'react';
import type { RunState } from '../../parts/run/timeline/run-state.ts';
import { RequestTab } from './request-tab.tsx';
import { choiceClass, StateLink } from './state-link.tsx';

interface SeenViewProps {
  readonly state: RunState;
  readonly run: Run;
  readonly rows: readonly TimelineRow[];
}

/** The run as the model saw it: the request of a step, with nudges, without trimmed or rewound parts. */
export function SeenView({ state, run, rows }: SeenViewProps): ReactElement {
  const isOfMachine = rows.some((row) => row.kind === 'step' && row.origin !== undefined);
  const steps = rows.flatMap((row) => (row.kind === 'step' ? [row.step] : []));
  const step = stepOf(state.search.call, rows) ?? steps.at(-1);
  if (step === undefined) return <p className="p-4 text-quiet">The model has not been asked yet.</p>;
  return (
    <section aria-label="As the model saw it" className="flex min-h-24 flex-1 flex-col">
      <nav
        aria-label="Step"
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line bg-surface px-4 wide:px-6 py-1"
      >
        {steps.map((one) => (
          <StateLink
            key={one}
            state={state}
            change={{ call: `step-${one}` }}
            isCurrent={one === step}
            className={choiceClass}
          >
            Step {one}
          </StateLink>
        ))}
      </nav>
      <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 wide:px-6">
        <div className="max-w-4xl">
          <RequestTab key={step} run={run} step={step} isOfMachine={isOfMachine} />
        </div>
      </div>
    </section>
  );
}

/** The open step, or the step of the open call. */
function stepOf(open: string | undefined, rows: readonly TimelineRow[]): number | undefined {
  const row = rows.find(
    (one) => (one.kind === 'call' && one.callId === open) || (one.kind === 'step' && `step-${one.step}` === open),
  );
  return row?.kind === 'call' || row?.kind === 'step' ? row.step : undefined;
}
