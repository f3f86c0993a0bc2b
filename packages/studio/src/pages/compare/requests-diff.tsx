import type { Run, RunEntry, StepRequest } from '@lastcall/client';
import { toTimeline } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { stepRequest } from '../../data/runs.ts';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { LineDiff } from '../../parts/ui/line-diff.tsx';

interface Whole {
  readonly run: Run;
  readonly entries: readonly RunEntry[];
}

/** What the models of both runs were sent, step by step. A fork begins with the steps of its original. */
export function RequestsDiff({ left, right }: { left: Whole; right: Whole }): ReactElement | null {
  const first = right.run.fork?.runId === left.run.id ? right.run.fork.atStep : 1;
  const last = Math.min(toTimeline(left.run, left.entries).steps, toTimeline(right.run, right.entries).steps);
  const steps = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  if (steps.length === 0) return null;
  return (
    <section aria-label="Requests" className="flex flex-col gap-1">
      <h2 className="font-semibold">Requests to the model</h2>
      <ol className="flex flex-col rounded-card border border-line bg-surface">
        {steps.map((step) => (
          <StepDiff key={`${right.run.id} ${step}`} step={step} left={left.run.id} right={right.run.id} />
        ))}
      </ol>
    </section>
  );
}

function StepDiff({ step, left, right }: { step: number; left: string; right: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="border-b border-line last:border-b-0">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="min-h-9 px-3 py-1.5 text-sm hover:bg-raised">Step {step}</summary>
        {isOpen && <BothRequests step={step} left={left} right={right} />}
      </details>
    </li>
  );
}

function BothRequests({ step, left, right }: { step: number; left: string; right: string }): ReactElement {
  const one = useQuery(stepRequest(left, step));
  const other = useQuery(stepRequest(right, step));
  const error = one.error ?? other.error;
  if (error !== null) return <ErrorNote error={error} title="These requests cannot be compared." />;
  if (one.data === undefined || other.data === undefined)
    return <p className="p-3 text-sm text-quiet">Reading the requests …</p>;
  const [before, after] = [toText(one.data), toText(other.data)];
  return (
    <div className="p-3 pt-1">
      {before === after ? (
        <p className="text-sm text-quiet">Both models were sent the same.</p>
      ) : (
        <LineDiff label={`Request of step ${step}, left and right`} before={before} after={after} />
      )}
    </div>
  );
}

/** One part per line, so that lines can be compared. */
function toText({ model, instructions, messages, tools, settings }: StepRequest): string {
  const parts = messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [content] : content).map((part) => `${role}: ${lineOf(part)}`),
  );
  return [
    `model: ${model ?? ''}`,
    `settings: ${JSON.stringify(settings)}`,
    ...instructions.split('\n').map((line) => `instructions: ${line}`),
    ...tools.map((tool) => `tool: ${JSON.stringify(tool)}`),
    ...parts,
  ].join('\n');
}

function lineOf(part: unknown): string {
  const { type, text } = (typeof part === 'object' && part !== null ? part : {}) as { type?: unknown; text?: unknown };
  return type === 'text' && typeof text === 'string' ? text : JSON.stringify(part);
}
