import { namesOf } from '../charter/state-schema.ts';
import type { Target, TreeEvent } from './tree-event.ts';

/** Who wrote a field, and when. */
interface Write {
  readonly by: string;
  readonly at: number;
}

/**
 * Who has written which field since whoever is at work began. A leaf reads the state as it was at the start of its step, so
 * a field that somebody else wrote since must not be written over unseen. Leaves never share state (each writes that of its
 * own instance, and packs are the primary's alone): it is commands, which run beside a step, that they meet.
 */
export class Ledger {
  #now = 0;
  readonly #committed = new Map<string, Map<string, Write>>();
  /** What calls that have run will commit, unless something after them fails. */
  readonly #claims = new Map<string, ReadonlySet<string>>();

  /** The point from which somebody reads. */
  get now(): number {
    return this.#now;
  }

  /** Claims what the events write, or gives the field that somebody else has written since `began`. */
  claim(by: string, began: number, events: readonly TreeEvent[]): { readonly field: string } | undefined {
    const keys = new Set(events.flatMap(keysOf));
    for (const key of keys) if (this.#isTaken(key, by, began)) return { field: fieldOf(key) };
    this.#claims.set(by, keys);
    return undefined;
  }

  release(by: string): void {
    this.#claims.delete(by);
  }

  commit(by: string, events: readonly TreeEvent[]): void {
    this.#claims.delete(by);
    const at = ++this.#now;
    for (const key of events.flatMap(keysOf)) {
      const writes = this.#committed.get(key) ?? new Map<string, Write>();
      this.#committed.set(key, writes.set(by, { by, at }));
    }
  }

  /** Forgets all writes. This is right only while no reader is active that began before them. */
  clear(): void {
    this.#committed.clear();
    this.#claims.clear();
  }

  #isTaken(key: string, by: string, began: number): boolean {
    for (const write of this.#committed.get(key)?.values() ?? []) if (write.by !== by && write.at > began) return true;
    for (const [other, keys] of this.#claims) if (other !== by && keys.has(key)) return true;
    return false;
  }
}

// A character that no name has, so that no two fields look alike.
const BETWEEN = '\u0000';

function keysOf(event: TreeEvent): string[] {
  return event.kind === 'patched' ? namesOf(event).map((name) => `${nameOf(event.target)}${BETWEEN}${name}`) : [];
}

function fieldOf(key: string): string {
  return key.slice(key.indexOf(BETWEEN) + 1);
}

function nameOf(target: Target): string {
  return target.kind === 'instance' ? target.id : `pack ${target.name}`;
}
