import { setTimeout as sleep } from 'node:timers/promises';
import { toText } from '../processes/answering.ts';
import { type ApiAnswer, request } from '../processes/api.ts';
import { findPlace, type Place } from '../processes/site.ts';
import { spaceOf, WORKS } from './chaos-model.ts';
import type { Fleet } from './fleet.ts';
import type { Random } from './random.ts';

const RESIDENTS = { North: ['Anna', 'Bert'], South: ['Bert', 'Cleo'] } as const;
const PEOPLE = { North: 'Ada', South: 'Bob' } as const;

interface Card {
  readonly callId: string;
  readonly runId: string;
  readonly kind: 'result' | 'approval';
}

/** People who write messages and answer cards, whatever happens to the gateways. */
export class Driver {
  readonly problems: string[] = [];
  readonly posted: string[] = [];
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #answered = new Set<string>();
  #place: Place = { spaces: {}, entities: {} };
  #isOpen = true;
  #answering: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, random: Random) {
    this.#fleet = fleet;
    this.#random = random;
  }

  async open(): Promise<void> {
    this.#place = await findPlace(this.#fleet.urls[0] ?? '');
    this.#answering = this.#answerCards();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#answering;
  }

  /** Posts one more message, which counts once, however often it has to be sent. */
  async post(): Promise<void> {
    const random = this.#random;
    const ref = `${random.oneOf(['n', 's'])}${this.posted.length + 1}`;
    this.posted.push(ref);
    const space = spaceOf(ref);
    const text = toText(random.oneOf(RESIDENTS[space]), { what: random.oneOf(WORKS), ref });
    const body = { entityId: this.#place.entities[PEOPLE[space]], text, clientMessageId: ref };
    const { status } = await this.#persist(`/api/spaces/${this.#place.spaces[space]}/messages`, body);
    if (status !== 201) this.problems.push(`${ref} could not be posted: ${status}.`);
  }

  /** The texts of the messages in the spaces, as the API shows them. */
  async texts(): Promise<string[]> {
    const texts: string[] = [];
    for (const spaceId of Object.values(this.#place.spaces))
      for (let after = 0; ; ) {
        const { body } = await this.#persist(`/api/spaces/${spaceId}/messages?after=${after}&limit=200`);
        const items = body.items as { text: string; seq: number }[];
        texts.push(...items.map(({ text }) => text));
        if (!body.hasMore) break;
        after = items.at(-1)?.seq ?? 0;
      }
    return texts;
  }

  async #answerCards(): Promise<void> {
    while (this.#isOpen) {
      const { body } = await this.#persist('/api/pending');
      for (const card of body.items as Card[]) await this.#answer(card);
      await sleep(50);
    }
  }

  /** Sends the same answer through every gateway at once. It counts once. */
  async #answer({ callId, runId, kind }: Card): Promise<void> {
    if (this.#answered.has(callId)) return;
    this.#answered.add(callId);
    const answer = kind === 'result' ? { result: { confirmed: true } } : this.#decision();
    const path = `/api/runs/${runId}/tool-results`;
    const answers = await Promise.all([0, 1].map((index) => this.#persist(path, { callId, ...answer }, index)));
    for (const { status, body } of answers)
      if (status !== 200) this.problems.push(`${callId} could not be answered: ${status} ${JSON.stringify(body)}`);
    if (answers.filter(({ body }) => body.duplicate === false).length > 1)
      this.problems.push(`Two answers to ${callId} were the first.`);
  }

  #decision(): object {
    return this.#random.isLucky(0.7) ? { approve: true } : { deny: 'Not today.' };
  }

  /** Retries until a gateway responds. */
  async #persist(path: string, body?: object, first: number = this.#random.between(0, 1)): Promise<ApiAnswer> {
    for (let tries = first; ; tries++) {
      const { urls } = this.#fleet;
      try {
        const url = urls[tries % Math.max(1, urls.length)];
        if (url !== undefined) {
          const answer = await request(url, path, { timeoutMs: 4_000, ...(body === undefined ? {} : { body }) });
          if (answer.status < 500) return answer;
          if (answer.status !== 503) this.problems.push(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        }
      } catch {
        // The gateway is killed, stopped or starting: try the next one, or the same one later.
      }
      await sleep(30);
    }
  }
}
