import type { StreamEvent, StreamNotice } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import { encodeEvent } from './encode-event.ts';
import { HighWaterMark } from './high-water-mark.ts';
import { PAGE_BYTES, readEnd, readPage } from './read-page.ts';

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
 * A cursor over a channel. Live events wait here, up to a bound; whatever is missing between (a notice without its event, a gap, what
 * did not fit, all that a returning client missed) is read from the table, a page at a time, only as fast as the client takes it.
 *
 * Two numbers say all: `#given`, which only `next` changes, and `#newest`, which everything that comes in raises and nothing lowers.
 * A reset is told only where the table says that the event after `#given` is gone, never because the two differ.
 */
export class StreamReader {
  readonly #services: Needs;
  readonly #channel: string;
  readonly #unsubscribe: () => void;
  /** The last event given out. */
  #given = 0;
  /** The last event there is, as far as known. */
  readonly #newest = new HighWaterMark();
  /** The client came with a number that no event has had. */
  #isAhead = false;
  #page: StreamEvent[] = [];
  #live: StreamEvent[] = [];
  #liveBytes = 0;
  #isReading = false;
  #isOpen = true;
  #woken: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(services: Needs, channel: string) {
    this.#services = services;
    this.#channel = channel;
    // Before the first look at the table: an event between the two would be missed.
    this.#unsubscribe = services.bus.subscribe(channel, (notice) => this.#hear(notice));
  }

  async begin(after: number | undefined): Promise<void> {
    const end = await this.#readEnd();
    this.#given = after ?? end;
    this.#isAhead = this.#given > end;
    // What was heard until here may lie before or after that: the table has all of it.
    this.#forget();
  }

  /** Where the reader stands. */
  get position(): number {
    return this.#given;
  }

  /** Events that wait in memory. */
  get held(): number {
    return this.#page.length + this.#live.length;
  }

  /** The next event, when there is one; undefined once the reader is closed. One at a time. */
  async next(): Promise<StreamItem | undefined> {
    while (this.#isOpen) {
      const event = this.#page.shift() ?? this.#takeLive();
      if (event !== undefined) {
        this.#given = event.seq;
        return { kind: 'event', event };
      }
      const isUpToDate = !this.#isAhead && this.#given >= this.#newest.value;
      const step = isUpToDate ? 'wait' : await this.#readOn();
      if (step === 'wait') await this.#wakening();
      else if (step !== 'page') return step;
    }
    return undefined;
  }

  /** Looks for events that no notice told of, or that could not be read: notices get lost, and databases go away. */
  async look(): Promise<void> {
    await this.#readEnd();
    if (this.#given < this.#newest.value) this.#woken.resolve();
  }

  /** Somebody knows for certain that there are events up to `seq`. */
  expect(seq: number): void {
    this.#newest.raiseTo(seq);
    this.#woken.resolve();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#unsubscribe();
    this.#forget();
    this.#woken.resolve();
  }

  #hear({ seq, event }: StreamNotice): void {
    if (seq === 0) this.#lookSoon();
    if (seq <= this.#newest.value || !this.#isOpen) return;
    const follows = seq === this.#newest.value + 1 && this.#newest.value === this.#lastHeld();
    this.#newest.raiseTo(seq);
    // While a page is on its way out the table has the rest too: only what a client that is up to date does not take may wait here.
    if (event !== undefined && follows && !this.#isReading && this.#page.length === 0) this.#holdIfItFits(event);
    this.#woken.resolve();
  }

  /** What cannot be read now is read at the next look, or at the next event. */
  #lookSoon(): void {
    void this.look().catch(() => {});
  }

  /** What does not fit is read from the table, once what waits is taken: a reader that lags costs no memory, and loses nothing. */
  #holdIfItFits(event: StreamEvent): void {
    const size = encodeEvent(event).length;
    // The first may be of any size: it is in memory anyway, once for all who read it.
    const fits = this.#live.length === 0 || this.#liveBytes + size <= PAGE_BYTES;
    if (!fits || this.#live.length >= this.#services.limits.streamBacklog) return;
    this.#live.push(event);
    this.#liveBytes += size;
  }

  #lastHeld(): number {
    return (this.#live.at(-1) ?? this.#page.at(-1))?.seq ?? this.#given;
  }

  #takeLive(): StreamEvent | undefined {
    const event = this.#live.shift();
    if (event !== undefined) this.#liveBytes -= encodeEvent(event).length;
    return event;
  }

  async #wakening(): Promise<void> {
    await this.#woken.promise;
    this.#woken = Promise.withResolvers();
  }

  /** The next page from the table, or a reset where it is not there any more; or, where nothing can be read now, waiting. */
  async #readOn(): Promise<'page' | 'wait' | StreamItem> {
    this.#isReading = true;
    try {
      if (!this.#isAhead && (await this.#readPage())) return 'page';
      const end = await this.#readEnd();
      if (this.#isAhead) return this.#reset(end);
      // Once more: what the table lacks although its end lies beyond is gone, and was not just late.
      if (await this.#readPage()) return 'page';
      return end > this.#given ? this.#reset(end) : 'wait';
    } catch (error) {
      this.#services.logger.warn('A stream cannot be read now: it waits for the next look.', { error });
      return 'wait';
    } finally {
      this.#isReading = false;
    }
  }

  /** False where the event after the last one given is not in the table. */
  async #readPage(): Promise<boolean> {
    this.#page = await readPage(this.#services.store.db, { channel: this.#channel, after: this.#given });
    // The table may be ahead of the notices.
    this.#newest.raiseTo(this.#page.at(-1)?.seq ?? 0);
    return this.#page.length > 0;
  }

  #reset(end: number): StreamItem {
    this.#isAhead = false;
    this.#given = end;
    return { kind: 'reset', seq: end };
  }

  async #readEnd(): Promise<number> {
    const end = await readEnd(this.#services.store.db, this.#channel);
    this.#newest.raiseTo(end);
    return end;
  }

  #forget(): void {
    this.#page = [];
    this.#live = [];
    this.#liveBytes = 0;
  }
}
