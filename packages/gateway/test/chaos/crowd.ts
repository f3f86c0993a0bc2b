import { setTimeout as sleep } from 'node:timers/promises';
import { answerText } from '../processes/answering.ts';
import type { Driver } from './driver.ts';

/** Messages that are active at once. */
const CROWD = 6;

/** Keeps this many messages active. */
export class Crowd {
  readonly #driver: Driver;
  #isOpen = true;
  readonly #posting: Promise<unknown>;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#posting = this.#post();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#posting;
  }

  async #post(): Promise<void> {
    while (this.#isOpen) {
      const texts = new Set(await this.#driver.texts());
      const open = this.#driver.posted.filter((ref) => !texts.has(answerText(ref))).length;
      await Promise.all(Array.from({ length: CROWD - open }, () => this.#driver.post()));
      await sleep(100);
    }
  }
}
