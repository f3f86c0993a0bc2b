import { namesOf } from '../charter/state-schema.ts';
import type { Target, TreeEvent } from './tree-event.ts';

/** Who wrote a field, and when. */
interface Write {
  readonly by: string;
  readonly at: number;
}

/**
 * Records who has written which field since the active leaves and commands began. A leaf reads the state as it was at
 * the start of its step, so it must not overwrite a field that was written since. Leaves never share state (each writes
 * its own instance's, and packs are the primary's alone), so conflicts arise only with commands, which run in parallel
 * with a step.
 */
export class Ledger {
  #now = 0;
  readonly #committed = new Map<string, Map<string, Write>>();
  /** The fields that finished calls will commit, unless a later step of theirs fails. */
  readonly #claims = new Map<string, ReadonlySet<string>>();

  /** The current point in time, from which a reader starts. */
  get now(): number {
    return this.#now;
  }

  /** Claims the fields that the events write, or returns a field that another writer has written since `began`. */
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

// A character that no name contains, so that two different fields never have the same key.
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
