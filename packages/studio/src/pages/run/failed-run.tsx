import type { Run } from '@lastcall/client';
import type { ReactElement } from 'react';
import { RetryRun } from '../../parts/run/retry-run.tsx';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { RequestTab } from './request-tab.tsx';

/** Why the run failed, the request that the model did not answer, and a button to try again. */
export function FailedRun({ run, step }: { run: Run; step: number }): ReactElement | null {
  const { status, stop } = run;
  if (status !== 'failed' || stop?.reason !== 'error') return null;
  return (
    <section
      aria-label="Why it failed"
      className="flex flex-col gap-2 border-b border-line bg-bad-soft px-4 wide:px-6 py-3"
    >
      <p className="max-h-40 overflow-y-auto">
        <span className="font-medium text-bad">It failed: </span>
        <SafeText text={stop.error} />
      </p>
      <details>
        <summary className="min-h-7 cursor-pointer text-sm">The request of step {step}</summary>
        <div className="max-h-[50vh] overflow-y-auto rounded border border-line bg-surface p-3">
          <RequestTab run={run} step={step} isOfMachine={false} />
        </div>
      </details>
      <RetryRun run={run} />
    </section>
  );
}
