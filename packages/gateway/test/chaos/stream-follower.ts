import { setTimeout as sleep } from 'node:timers/promises';
import { SECRET_KEY } from '../processes/api.ts';
import type { Fleet } from './fleet.ts';

/** A client that follows a space, and reconnects to any gateway whenever the stream breaks. It must see each event once, in order. */
export class StreamFollower {
  readonly problems: string[] = [];
  readonly #fleet: Fleet;
  readonly #spaceId: string;
  #seq = 0;
  #isOpen = true;
  #connection = new AbortController();
  readonly #following: Promise<void>;

  constructor(fleet: Fleet, spaceId: string) {
    this.#fleet = fleet;
    this.#spaceId = spaceId;
    this.#following = this.#follow();
  }

  /** The number of the last event. */
  get seq(): number {
    return this.#seq;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#connection.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    for (let tries = 0; this.#isOpen; tries++) {
      const { urls } = this.#fleet;
      const url = urls[tries % Math.max(1, urls.length)];
      try {
        if (url !== undefined) await this.#read(url);
      } catch {
        // The connection broke, as expected: reconnect.
      }
      await sleep(30);
    }
  }

  async #read(url: string): Promise<void> {
    this.#connection = new AbortController();
    let patience = this.#patience();
    try {
      const response = await fetch(`${url}/api/spaces/${this.#spaceId}/stream`, {
        headers: { authorization: `Bearer ${SECRET_KEY}`, 'last-event-id': String(this.#seq) },
        signal: this.#connection.signal,
      });
      let rest = '';
      if (!response.ok || response.body === null) return;
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(patience);
        patience = this.#patience();
        const events = `${rest}${piece}`.split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) this.#hear(event);
      }
    } finally {
      clearTimeout(patience);
    }
  }

  /** A frozen process keeps its connections open, but sends nothing. */
  #patience(): NodeJS.Timeout {
    return setTimeout(() => this.#connection.abort(), 3_000);
  }

  #hear(event: string): void {
    const [, id] = /^id: (\d+)$/m.exec(event) ?? [];
    const [, type] = /^event: (\S+)$/m.exec(event) ?? [];
    if (id === undefined || type === undefined) return;
    const seq = Number(id);
    if (type === 'reset' || seq !== this.#seq + 1)
      this.problems.push(`After event ${this.#seq} of ${this.#spaceId} came ${type} ${seq}.`);
    this.#seq = seq;
  }
}
