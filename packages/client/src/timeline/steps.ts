import type { Changes, Outcome, RunEntry, Usage } from '../wire.generated.ts';
import { type CallFacts, factsOf } from './call-facts.ts';
import { withRunSteps } from './machine-steps.ts';

/** One reply of the model, and the calls that it asked for, in their order. */
export interface RunStep {
  /** Counted through the run, also over the instances of a machine. */
  readonly step: number;
  /** The node that replied, if the agent is a machine. */
  readonly node: string | undefined;
  readonly text: string;
  readonly usage: Usage;
  /** Undefined if the gateway has no price for the model. */
  readonly cost: number | undefined;
  readonly model: string | undefined;
  /** When the model was asked and when it had answered, in milliseconds since the epoch. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly calls: readonly StepCall[];
}

interface StepCall {
  readonly callId: string;
  readonly toolName: string;
  /** The input as the model wrote it. */
  readonly input: string;
  /** Undefined while the call runs. For a call that waited, this is how it ended, even if that was in a later run. */
  readonly outcome: Outcome | undefined;
  /** What it committed, and what was rolled back. Undefined if it changed nothing. */
  readonly changes: Changes | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/**
 * The transcript of a run as steps. Entries that are neither a reply nor the end of a call are left out: `toTimeline` has them. It is
 * separate from the timeline because every page with hooks loads it.
 */
export function toSteps(entries: readonly RunEntry[]): readonly RunStep[] {
  const facts = factsOf(entries);
  return withRunSteps(entries).flatMap(({ entry, cost }) => {
    if (entry.kind !== 'reply') return [];
    const calls = entry.calls.map(({ callId, toolName, input }) => ({
      callId,
      toolName,
      input,
      ...endOf(facts.calls.get(callId)),
    }));
    const { step, node, text, usage, model, startedAt, endedAt } = entry;
    return [{ step, node, text, usage, cost, model, startedAt, endedAt, calls }];
  });
}

function endOf({
  settled,
  pending,
  changes,
}: Partial<CallFacts> = {}): Omit<StepCall, 'callId' | 'toolName' | 'input'> {
  const { outcome, startedAt, endedAt } = (settled ?? pending)?.entry.settlement ?? {};
  const ended = settled === undefined ? pending?.ended : undefined;
  return { outcome: ended?.outcome ?? outcome, changes, startedAt, endedAt: ended?.at ?? endedAt };
}

/** The indexes of the entries of calls that still wait. */
export function waitingAt(entries: readonly RunEntry[]): readonly number[] {
  const settled = new Set(entries.flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement.callId] : [])));
  return entries.flatMap(({ entry, ended }, index) =>
    entry.kind === 'pending' && ended === undefined && !settled.has(entry.settlement.callId) ? [index] : [],
  );
}
