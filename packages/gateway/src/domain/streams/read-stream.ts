import type { StreamEvent, StreamNotice } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import { encodeEvent } from './encode-event.ts';
import { HighWaterMark } from './high-water-mark.ts';
import { PAGE_BYTES, readEnd, readPage } from './read-page.ts';

export interface StreamRequest {
  readonly stream: string;
  /** The last event that the client has. Default: the newest one. */
  readonly after?: number;
}

export type StreamItem =
  | { readonly kind: 'event'; readonly event: StreamEvent }
  /** Earlier events are deleted, or never existed: the client continues from `seq`. */
  | { readonly kind: 'reset'; readonly seq: number };

type StreamServices = Pick<Services, 'store' | 'bus' | 'limits' | 'logger'>;

/** Opens a stream for one reader, which gets every later event once and in order. */
export async function readStream(services: StreamServices, { stream, after }: StreamRequest): Promise<StreamReader> {
  const reader = new StreamReader(services, stream);
  try {
    await reader.begin(after);
    return reader;
  } catch (error) {
    reader.close();
    throw error;
  }
}

/**
 * A cursor over a stream. Live events wait here, up to a limit. Missing events (a notice without its event, a gap, events that
 * did not fit, everything that a reconnecting client missed) are read from the table, a page at a time, as fast as the client
 * accepts it. Two numbers hold the state: `#position`, which only `next` and `#reset` change, and `#newest`, which notices and
 * reads raise and which never decreases. A reset is sent only if the table shows that the event after `#position` is deleted,
 * never because the two numbers differ.
 */
export class StreamReader {
  readonly #services: StreamServices;
  readonly #stream: string;
  readonly #unsubscribe: () => void;
  /** The last event that was returned. */
  #position = 0;
  /** The newest event that is known. */
  readonly #newest = new HighWaterMark();
  /** True if the client sent a number that no event has had. */
  #isAhead = false;
  #page: StreamEvent[] = [];
  #live: StreamEvent[] = [];
  #liveBytes = 0;
  #isReading = false;
  #isOpen = true;
  #woken: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(services: StreamServices, stream: string) {
    this.#services = services;
    this.#stream = stream;
    // Subscribes before the first read of the table: an event between the two would be missed.
    this.#unsubscribe = services.bus.subscribe(stream, (notice) => this.#onNotice(notice));
  }

  async begin(after: number | undefined): Promise<void> {
    const end = await this.#readEnd();
    this.#position = after ?? end;
    this.#isAhead = this.#position > end;
    // Notices that arrived until now may be before or after that position. The table has all of them.
    this.#forget();
  }

  /** The number of the last event that was returned. */
  get position(): number {
    return this.#position;
  }

  /** The number of events that wait in memory. */
  get held(): number {
    return this.#page.length + this.#live.length;
  }

  /**
   * Returns the next event when there is one, or undefined once the reader is closed. Call it again only after it has
   * resolved.
   */
  async next(): Promise<StreamItem | undefined> {
    while (this.#isOpen) {
      const event = this.#page.shift() ?? this.#takeLive();
      if (event !== undefined) {
        this.#position = event.seq;
        return { kind: 'event', event };
      }
      const isUpToDate = !this.#isAhead && this.#position >= this.#newest.value;
      const step = isUpToDate ? 'wait' : await this.#readNext();
      if (step === 'wait') await this.#waitForWake();
      else if (step !== 'page') return step;
    }
    return undefined;
  }

  /** Looks for events that no notice announced, or that could not be read: notices get lost, and databases become unreachable. */
  async look(): Promise<void> {
    await this.#readEnd();
    if (this.#position < this.#newest.value) this.#woken.resolve();
  }

  /** Call this if it is certain that there are events up to `seq`. */
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

  #onNotice({ seq, event }: StreamNotice): void {
    if (seq === 0) this.#lookSoon();
    if (seq <= this.#newest.value || !this.#isOpen) return;
    const follows = seq === this.#newest.value + 1 && this.#newest.value === this.#lastHeld();
    this.#newest.raiseTo(seq);
    // While a page is being returned, the table has the rest too. Only a client that is up to date keeps live events in
    // memory.
    if (event !== undefined && follows && !this.#isReading && this.#page.length === 0) this.#holdIfItFits(event);
    this.#woken.resolve();
  }

  /** If this fails, the events are read at the next check or notice. */
  #lookSoon(): void {
    void this.look().catch(() => {});
  }

  /** An event that does not fit is read from the table later, so a slow reader costs no memory and loses nothing. */
  #holdIfItFits(event: StreamEvent): void {
    const size = encodeEvent(event).length;
    // The first may have any size: it is in memory anyway, once for all its readers.
    const fits = this.#live.length === 0 || this.#liveBytes + size <= PAGE_BYTES;
    if (!fits || this.#live.length >= this.#services.limits.streamBacklog) return;
    this.#live.push(event);
    this.#liveBytes += size;
  }

  #lastHeld(): number {
    return (this.#live.at(-1) ?? this.#page.at(-1))?.seq ?? this.#position;
  }

  #takeLive(): StreamEvent | undefined {
    const event = this.#live.shift();
    if (event !== undefined) this.#liveBytes -= encodeEvent(event).length;
    return event;
  }

  async #waitForWake(): Promise<void> {
    await this.#woken.promise;
    this.#woken = Promise.withResolvers();
  }

  /** Reads the next page, or returns a reset if it was deleted, or 'wait' if nothing can be read now. */
  async #readNext(): Promise<'page' | 'wait' | StreamItem> {
    this.#isReading = true;
    try {
      if (!this.#isAhead && (await this.#readPage())) return 'page';
      const end = await this.#readEnd();
      if (this.#isAhead) return this.#reset(end);
      // Read again: if the event is still missing although the table has later ones, it was deleted and is not just late.
      if (await this.#readPage()) return 'page';
      return end > this.#position ? this.#reset(end) : 'wait';
    } catch (error) {
      this.#services.logger.warn('A stream cannot be read now. It is read again at the next check.', { error });
      return 'wait';
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns false if the event after the last returned one is not in the table. */
  async #readPage(): Promise<boolean> {
    this.#page = await readPage(this.#services.store.db, { stream: this.#stream, after: this.#position });
    // The table may be ahead of the notices.
    this.#newest.raiseTo(this.#page.at(-1)?.seq ?? 0);
    return this.#page.length > 0;
  }

  #reset(end: number): StreamItem {
    this.#isAhead = false;
    this.#position = end;
    return { kind: 'reset', seq: end };
  }

  async #readEnd(): Promise<number> {
    const end = await readEnd(this.#services.store.db, this.#stream);
    this.#newest.raiseTo(end);
    return end;
  }

  #forget(): void {
    this.#page = [];
    this.#live = [];
    this.#liveBytes = 0;
  }
}
