import { setTimeout as sleep } from 'node:timers/promises';

export const KEY = 'a-secret-key-of-the-tests';

/** The first space of a gateway, and its first person. */
export class DemoSpace {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there.
  async ask(path: string, body?: object): Promise<any> {
    const response = await fetch(this.#url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return await response.json();
  }

  async say(text: string): Promise<void> {
    const { items: spaces } = await this.ask('/api/spaces');
    const { items: people } = await this.ask('/api/entities?kind=human');
    await this.ask(`/api/spaces/${spaces[0].id}/messages`, { entityId: people[0].id, text });
  }

  /** The completed runs, newest first, once there are at least `runs`. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async ended(runs: number): Promise<any[]> {
    for (;;) {
      const { items } = await this.ask('/api/runs?status=completed');
      if (items.length >= runs) return items;
      await sleep(20);
    }
  }
}
