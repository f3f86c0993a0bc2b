import type { RunEntry, TranscriptEntry } from '../wire.generated.ts';

/** The instance of a machine that wrote an entry. */
export interface Origin {
  readonly node: string;
  readonly instanceId: string;
}

/** Undefined for an entry of an agent that is no machine, and for one of the machine as a whole. */
export function originOf(entry: TranscriptEntry): Origin | undefined {
  if (!('thread' in entry)) return undefined;
  const { node, instanceId } = entry as Partial<Origin>;
  return node === undefined || instanceId === undefined ? undefined : { node, instanceId };
}

/**
 * The entries with the steps of a machine numbered through the run. Each turn of an instance counts its own steps from
 * 1, so several replies of one run would have the same number.
 */
export function withRunSteps(entries: readonly RunEntry[]): readonly RunEntry[] {
  let steps = 0;
  const lastOf = new Map<string, number>();
  return entries.map((one) => {
    const { entry } = one;
    if ((entry.kind !== 'reply' && entry.kind !== 'trimmed') || entry.thread === undefined) return one;
    if (entry.kind === 'reply') {
      steps += 1;
      lastOf.set(entry.thread, steps);
    }
    return { ...one, entry: { ...entry, step: lastOf.get(entry.thread) ?? entry.step } };
  });
}
