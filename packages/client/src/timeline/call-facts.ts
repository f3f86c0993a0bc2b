import type { Answer, Changes, Run, RunEntry } from '../wire.generated.ts';
import type { EntryOf } from './rows.ts';

type Takeover = NonNullable<Run['takeovers']>[number];

/** What the entries of a run tell of one call. */
export interface CallFacts {
  settled?: { readonly entry: EntryOf<'settled'>; readonly seq: number };
  pending?: {
    readonly entry: EntryOf<'pending'>;
    readonly seq: number;
    readonly status: RunEntry['status'];
    readonly ended: RunEntry['ended'];
  };
  changes?: Changes | undefined;
  subAgents?: RunEntry['subAgents'];
  /** The numbers of its `started` entries, and when the first of them was written. */
  readonly starts: { readonly seq: number; readonly at: number }[];
  answer?: Answer | undefined;
}

/** What the entries of a run tell of its calls. */
export interface Facts {
  readonly calls: ReadonlyMap<string, CallFacts>;
  /** Calls that a reply of this run asked for. */
  readonly asked: ReadonlySet<string>;
  /** When another worker continued a run, oldest first. */
  readonly takeovers: readonly Takeover[];
  /** By step: the calls that the model still sees. */
  readonly kept: ReadonlyMap<number, ReadonlySet<string>>;
  /** By step: how many calls its reply asked for. */
  readonly sizes: ReadonlyMap<number, number>;
}

export function factsOf(entries: readonly RunEntry[], takeovers: readonly Takeover[] = []): Facts {
  const calls = new Map<string, CallFacts>();
  const asked = new Set<string>();
  const kept = new Map<number, ReadonlySet<string>>();
  const sizes = new Map<number, number>();
  const of = (callId: string): CallFacts => {
    const known = calls.get(callId) ?? { starts: [] };
    calls.set(callId, known);
    return known;
  };
  for (const { seq, at, entry, changes, status, ended, subAgents } of entries) {
    if (entry.kind === 'reply') {
      sizes.set(entry.step, entry.calls.length);
      for (const { callId } of entry.calls) asked.add(callId);
    }
    if (entry.kind === 'trimmed') kept.set(entry.step, new Set(entry.keep));
    if (entry.kind === 'started') {
      const call = of(entry.callId);
      call.starts.push({ seq, at });
      call.answer ??= entry.answer;
    }
    if (entry.kind === 'pending')
      Object.assign(of(entry.settlement.callId), { pending: { entry, seq, status, ended }, changes });
    if (entry.kind === 'settled') {
      const call = of(entry.settlement.callId);
      call.settled = { entry, seq };
      call.changes = changes ?? call.changes;
      call.subAgents = subAgents;
      call.answer ??= entry.answer;
    }
  }
  return { calls, asked, takeovers, kept, sizes };
}

/** How many calls of a step the model does not see any more. */
export function hiddenIn(step: number, { kept, sizes }: Facts): number {
  return (sizes.get(step) ?? 0) - (kept.get(step)?.size ?? 0);
}
