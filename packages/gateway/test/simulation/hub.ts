import type { Bus, StreamEvent } from '../../src/ports/bus/bus.ts';
import { Subscribers, toNotice } from '../../src/ports/bus/subscribers.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import type { Surroundings } from './surroundings.ts';
import type { SimProcess } from './virtual-time.ts';

const HARM = { 'lose-notice': 0.01, 'double-notice': 0.01, 'delay-notice': 0.01 };

/** Carries notices between the gateways of a world. Some get lost, come twice or come late. */
export class Hub {
  readonly #world: Surroundings;
  readonly #members: { readonly process: SimProcess; readonly subscribers: Subscribers }[] = [];

  constructor(world: Surroundings) {
    this.#world = world;
  }

  join(process: SimProcess): Bus {
    const own = { process, subscribers: new Subscribers(undefined) };
    this.#members.push(own);
    return {
      publish: (events) => {
        for (const event of events) {
          this.#note(event);
          own.subscribers.notify(toNotice(event));
          for (const other of this.#members) if (other !== own) this.#send(event, other);
        }
      },
      subscribe: (stream, listener) => own.subscribers.add(stream, listener),
      async start() {},
      async stop() {},
    };
  }

  #note({ stream, seq, type, payload, json }: StreamEvent): void {
    this.#world.ledger.published.push({ stream, seq, type, json: json ?? toJson(payload) });
  }

  #send(event: StreamEvent, { process, subscribers }: { process: SimProcess; subscribers: Subscribers }): void {
    const { faults, time } = this.#world;
    if (process.isDead) return;
    const fault = faults.at(`notice to ${process.name}`, HARM);
    if (fault === 'lose-notice') return;
    const ms = fault === 'delay-notice' ? 4_000 : 0.2 + 5 * faults.number(`notice to ${process.name} takes`);
    const deliver = (): void => subscribers.notify(toNotice(event));
    time.afterIn(process, ms, deliver);
    if (fault === 'double-notice') time.afterIn(process, ms + 300, deliver);
  }
}
