import type { Kysely } from 'kysely';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import { storedEvent } from '../../ports/bus/stored-event.ts';
import type { StreamEventRow, Tables } from '../../ports/store/schema/tables.ts';

/** Events of this size and more are read one by one. Smaller ones are not worth sharing. */
export const LARGE_BYTES = 64_000;

/**
 * Reads a large event, which is kept in memory once for all its readers: a reader that needs it while it is being read, or while
 * another reader holds it, gets the same object. Returns undefined if it was deleted.
 */
export async function readLargeEvent(
  db: Kysely<Tables>,
  { stream, seq }: Pick<StreamEvent, 'stream' | 'seq'>,
): Promise<StreamEvent | undefined> {
  const known = events.get(db) ?? new SharedEvents();
  events.set(db, known);
  return await known.get(`${stream} ${seq}`, () => read(db, { stream, seq }));
}

const events = new WeakMap<Kysely<Tables>, SharedEvents>();

async function read(
  db: Kysely<Tables>,
  { stream, seq }: Pick<StreamEvent, 'stream' | 'seq'>,
): Promise<StreamEvent | undefined> {
  const row = await db
    .selectFrom('stream_events')
    .selectAll()
    .where('stream', '=', stream)
    .where('seq', '=', seq)
    .executeTakeFirst();
  return row === undefined ? undefined : toStreamEvent(row);
}

export function toStreamEvent({ stream, seq, type, payload, created_at, revocations }: StreamEventRow): StreamEvent {
  return storedEvent({ stream, seq, type, json: payload, at: created_at, revocations });
}

class SharedEvents {
  readonly #underWay = new Map<string, Promise<StreamEvent | undefined>>();
  readonly #held = new Map<string, WeakRef<StreamEvent>>();
  readonly #gone = new FinalizationRegistry((key: string) => {
    if (this.#held.get(key)?.deref() === undefined) this.#held.delete(key);
  });

  async get(key: string, load: () => Promise<StreamEvent | undefined>): Promise<StreamEvent | undefined> {
    const held = this.#held.get(key)?.deref();
    if (held !== undefined) return held;
    const loading = this.#underWay.get(key) ?? load();
    this.#underWay.set(key, loading);
    try {
      return this.#keep(key, await loading);
    } finally {
      this.#underWay.delete(key);
    }
  }

  #keep(key: string, event: StreamEvent | undefined): StreamEvent | undefined {
    if (event === undefined || this.#held.get(key)?.deref() === event) return event;
    this.#held.set(key, new WeakRef(event));
    this.#gone.register(event, key);
    return event;
  }
}
