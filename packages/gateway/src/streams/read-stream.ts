import { sql } from 'kysely';
import type { StreamEvent, StreamNotice } from '../bus/bus.ts';
import type { Services } from '../services.ts';
import { fromJson } from '../store/json.ts';
import { encodeEvent } from './encode-event.ts';

export interface StreamRequest {
  readonly channel: string;
  /** The last event that the client has. Default: all that is there. */
  readonly after?: number;
}

export type StreamItem =
  | { readonly kind: 'event'; readonly event: StreamEvent }
  /** What came before is gone, or never was: read on from `seq`. */
  | { readonly kind: 'reset'; readonly seq: number };

type Needs = Pick<Services, 'store' | 'bus' | 'limits' | 'logger'>;

/** Opens a channel for one reader. Every event from there on comes once, in order. */
export async function readStream(services: Needs, { channel, after }: StreamRequest): Promise<StreamReader> {
  const reader = new StreamReader(services, channel);
  try {
    await reader.begin(after);
    return reader;
  } catch (error) {
    reader.close();
    throw error;
  }
}

/**
 * A cursor over a channel. Live events wait here, up to a bound; whatever is missing between (a notice without its event, a gap, all
 * that a returning client missed) is read from the table, a page at a time, only as fast as the client takes it.
 */
export class StreamReader {
  readonly #services: Needs;
  readonly #channel: string;
  readonly #unsubscribe: () => void;
  /** The last event given out. */
  #given = 0;
  /** The last event there is, as far as known. */
  #latest = 0;
  #page: StreamEvent[] = [];
  #live: StreamEvent[] = [];
  #liveCharacters = 0;
  #reading = false;
  #state: 'open' | 'slow' | 'closed' = 'open';
  #woken: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #ended: PromiseWithResolvers<'slow' | 'closed'> = Promise.withResolvers();

  constructor(services: Needs, channel: string) {
    this.#services = services;
    this.#channel = channel;
    // Before the first look at the table: an event between the two would be missed.
    this.#unsubscribe = services.bus.subscribe(channel, (notice) => this.#hear(notice));
  }

  async begin(after: number | undefined): Promise<void> {
    const end = await this.#end();
    this.#given = after ?? end;
    this.#latest = Math.max(this.#latest, end);
    this.#forget();
  }

  /** Where the reader stands. */
  get position(): number {
    return this.#given;
  }

  /** Resolves once it has ended, and tells whether that was because its client took too little. */
  get ended(): Promise<'slow' | 'closed'> {
    return this.#ended.promise;
  }

  /** The next event, when there is one; undefined once the reader has ended. */
  async next(): Promise<StreamItem | undefined> {
    while (this.#state === 'open') {
      const event = this.#page.shift() ?? this.#takeLive();
      if (event !== undefined) {
        this.#given = event.seq;
        return { kind: 'event', event };
      }
      const step = this.#given === this.#latest ? 'wait' : await this.#readOn();
      if (step === 'wait') await this.#wakening();
      else if (step !== 'page') return step;
    }
    return undefined;
  }

  /** Looks for events that no notice told of, or that could not be read: notices get lost, and databases go away. */
  async look(): Promise<void> {
    this.#latest = Math.max(this.#latest, await this.#end());
    if (this.#given !== this.#latest) this.#woken.resolve();
  }

  close(): void {
    this.#finish('closed');
  }

  #hear({ seq, event }: StreamNotice): void {
    if (seq === 0) this.#lookSoon();
    if (seq <= this.#latest || this.#state !== 'open') return;
    const follows = seq === this.#latest + 1 && this.#latest === this.#lastHeld();
    this.#latest = seq;
    // While a page is on its way out the table has the rest too: only what a client that is up to date does not take may wait here.
    if (event !== undefined && follows && !this.#reading && this.#page.length === 0) this.#hold(event);
    this.#woken.resolve();
  }

  /** What cannot be read now is read at the next look, or at the next event. */
  #lookSoon(): void {
    void this.look().catch(() => {});
  }

  #hold(event: StreamEvent): void {
    this.#live.push(event);
    this.#liveCharacters += encodeEvent(event).length;
    const tooMany = this.#live.length > this.#services.limits.streamBacklog;
    // One event alone may be larger: it could never be read otherwise.
    const tooLarge = this.#live.length > 1 && this.#liveCharacters > MOST_CHARACTERS;
    if (tooMany || tooLarge) this.#finish('slow');
  }

  #lastHeld(): number {
    return (this.#live.at(-1) ?? this.#page.at(-1))?.seq ?? this.#given;
  }

  #takeLive(): StreamEvent | undefined {
    const event = this.#live.shift();
    if (event !== undefined) this.#liveCharacters -= encodeEvent(event).length;
    return event;
  }

  async #wakening(): Promise<void> {
    await this.#woken.promise;
    this.#woken = Promise.withResolvers();
  }

  /** The next page from the table, or a reset where it is not there any more; or, where nothing can be read now, waiting. */
  async #readOn(): Promise<'page' | 'wait' | StreamItem> {
    this.#reading = true;
    try {
      const rows = await readPage(this.#services, { channel: this.#channel, after: this.#given });
      const firstGap = rows.findIndex(({ seq }, index) => seq !== this.#given + 1 + index);
      this.#page = firstGap === -1 ? rows : rows.slice(0, firstGap);
      // The table may be ahead of the notices.
      this.#latest = Math.max(this.#latest, this.#page.at(-1)?.seq ?? 0);
      return this.#page.length > 0 ? 'page' : await this.#reset();
    } catch (error) {
      this.#services.logger.warn('A stream cannot be read now: it waits for the next look.', { error });
      return 'wait';
    } finally {
      this.#reading = false;
    }
  }

  async #reset(): Promise<StreamItem> {
    this.#given = await this.#end();
    this.#latest = Math.max(this.#latest, this.#given);
    return { kind: 'reset', seq: this.#given };
  }

  async #end(): Promise<number> {
    const row = await this.#services.store.db
      .selectFrom('channels')
      .select('next_seq')
      .where('id', '=', this.#channel)
      .executeTakeFirst();
    return row === undefined ? 0 : row.next_seq - 1;
  }

  #finish(state: 'slow' | 'closed'): void {
    if (this.#state !== 'open') return;
    this.#state = state;
    this.#unsubscribe();
    this.#forget();
    this.#woken.resolve();
    this.#ended.resolve(state);
  }

  #forget(): void {
    this.#page = [];
    this.#live = [];
    this.#liveCharacters = 0;
  }
}

const MOST_CHARACTERS = 1_000_000;
const PAGE = 100;

/** Up to a hundred events, fewer where they are large: what one reader holds is bounded. */
async function readPage(
  { store }: Pick<Services, 'store'>,
  { channel, after }: { channel: string; after: number },
): Promise<StreamEvent[]> {
  const rows = await store.db
    .with('next', (db) =>
      db
        .selectFrom('stream_events')
        .select(['seq', 'type', 'payload', 'created_at'])
        .where('channel', '=', channel)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(PAGE),
    )
    .with('measured', (db) =>
      db
        .selectFrom('next')
        .selectAll()
        .select(sql<number>`sum(length(payload)) over (order by seq) - length(payload)`.as('before')),
    )
    .selectFrom('measured')
    .select(['seq', 'type', 'payload', 'created_at'])
    .where('before', '<', MOST_CHARACTERS)
    .orderBy('seq')
    .execute();
  return rows.map(({ seq, type, payload, created_at }) => ({
    channel,
    seq,
    type,
    payload: fromJson(payload),
    at: created_at,
  }));
}
