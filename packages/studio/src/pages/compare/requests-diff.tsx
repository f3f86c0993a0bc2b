import type { Run, RunEntry, StepRequest } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { type StepRow, toTimeline } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { stepRequest } from '../../data/runs.ts';
import { originInWords } from '../../parts/run/call-words.ts';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { LineDiff } from '../../parts/ui/line-diff.tsx';
import { pairSteps, type StepPair } from './pair-steps.ts';

interface Whole {
  readonly run: Run;
  readonly entries: readonly RunEntry[];
}

/** What the models of both runs were sent, step by step. A fork begins with the steps of its original. */
export function RequestsDiff({ left, right }: { left: Whole; right: Whole }): ReactElement | null {
  const first = right.run.fork?.runId === left.run.id ? right.run.fork.atStep : 1;
  const pairs = pairSteps(stepsOf(left), stepsOf(right)).filter(({ right: step }) => step.step >= first);
  if (pairs.length === 0) return null;
  return (
    <section aria-label="Requests" className="flex flex-col gap-1">
      <h2 className="font-semibold">Requests to the model</h2>
      <ol className="flex flex-col rounded-card border border-line bg-surface">
        {pairs.map((pair) => (
          <StepDiff key={`${right.run.id} ${pair.right.step}`} pair={pair} left={left.run.id} right={right.run.id} />
        ))}
      </ol>
    </section>
  );
}

function stepsOf({ run, entries }: Whole): readonly StepRow[] {
  return toTimeline(run, entries).rows.filter((row): row is StepRow => row.kind === 'step');
}

interface StepDiffProps {
  readonly pair: StepPair;
  readonly left: string;
  readonly right: string;
}

function StepDiff({ pair, left, right }: StepDiffProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { step, origin } = pair.right;
  const by = origin === undefined ? '' : `, ${withVisibleControls(originInWords(origin))}`;
  // Instances of a machine work in parallel, and one may have been faster than the other.
  const where = pair.left.step === step ? '' : ` (step ${pair.left.step} on the left)`;
  return (
    <li className="border-b border-line last:border-b-0">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="min-h-9 px-3 py-1.5 text-sm hover:bg-raised">{`Step ${step}${by}${where}`}</summary>
        {isOpen && <BothRequests pair={pair} left={left} right={right} />}
      </details>
    </li>
  );
}

function BothRequests({ pair, left, right }: StepDiffProps): ReactElement {
  const { step } = pair.right;
  const one = useQuery(stepRequest(left, pair.left.step));
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
