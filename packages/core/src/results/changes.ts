/** Something that a call changed: session events of one type, a file, a resource. */
export interface Change {
  readonly kind: string;
  /** The event's type, the file's path, the resource's key. */
  readonly name: string;
  readonly count: number;
  /** One of them: the first event, what was done to the file. */
  readonly sample?: unknown;
}

/** What of a call remains, and what was taken back: all that a failed call did, and what attempts before the last one did. */
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

/** Joins counts of the same thing. */
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
