/** A change made by a call: session events of one type, a file, a resource. */
export interface Change {
  readonly kind: string;
  /** The event's type, the file's path, the resource's key. */
  readonly name: string;
  readonly count: number;
  /** An example: the first event, or what was done to the file. */
  readonly sample?: unknown;
  /** For a file: the lines that changed. A host may add it. */
  readonly diff?: string;
}

/**
 * Which changes of a call remain, and which were rolled back: all changes of a failed call, and those of attempts
 * before the last one.
 */
export interface Changes {
  readonly committed: readonly Change[];
  readonly discarded: readonly Change[];
}

/** Counts events by their type. */
export function countEvents(events: readonly { readonly type: string }[]): readonly Change[] {
  if (events.length === 0) return none;
  const counted = new Map<string, { count: number; sample: unknown }>();
  for (const event of events) {
    const known = counted.get(event.type);
    if (known === undefined) counted.set(event.type, { count: 1, sample: event });
    else known.count++;
  }
  return [...counted].map(([name, { count, sample }]) => ({ kind: 'event', name, count, sample }));
}

/** Adds up counts of the same thing. */
export function joinChanges(changes: readonly Change[]): readonly Change[] {
  if (changes.length < 2) return changes;
  const joined = new Map<string, Change>();
  for (const change of changes) {
    const key = JSON.stringify([change.kind, change.name]);
    const known = joined.get(key);
    joined.set(key, known === undefined ? change : { ...known, count: known.count + change.count });
  }
  return [...joined.values()];
}

const none: readonly Change[] = [];
