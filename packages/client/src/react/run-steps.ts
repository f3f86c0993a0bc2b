import type { Changes, Outcome, RunEntry, Usage } from '../wire.generated.ts';

/** One reply of the model, and the calls that it asked for, in their order. */
export interface RunStep {
  readonly step: number;
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

/** The transcript of a run as steps. Entries that are neither a reply nor the end of a call are left out. */
export function toSteps(entries: readonly RunEntry[]): readonly RunStep[] {
  const settlements = new Map(
    entries.flatMap(({ entry, changes, ended }) =>
      entry.kind === 'settled' || entry.kind === 'pending'
        ? [[entry.settlement.callId, { ...entry.settlement, ...endOf(ended), changes }] as const]
        : [],
    ),
  );
  return entries.flatMap(({ entry, cost }) => {
    if (entry.kind !== 'reply') return [];
    const calls = entry.calls.map(({ callId, toolName, input }) => {
      const { outcome, changes, startedAt, endedAt } = settlements.get(callId) ?? {};
      return { callId, toolName, input, outcome, changes, startedAt, endedAt };
    });
    const { step, text, usage, model, startedAt, endedAt } = entry;
    return [{ step, text, usage, cost, model, startedAt, endedAt, calls }];
  });
}

function endOf(ended: RunEntry['ended']): Partial<StepCall> {
  return ended === undefined ? {} : { outcome: ended.outcome, endedAt: ended.at };
}

/** The indexes of the entries of calls that still wait. */
export function waitingAt(entries: readonly RunEntry[]): readonly number[] {
  const settled = new Set(entries.flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement.callId] : [])));
  return entries.flatMap(({ entry, ended }, index) =>
    entry.kind === 'pending' && ended === undefined && !settled.has(entry.settlement.callId) ? [index] : [],
  );
}
