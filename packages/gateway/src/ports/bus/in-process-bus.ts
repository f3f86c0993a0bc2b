import type { Logger } from '@lastcall/core';
import type { Bus } from './bus.ts';
import { Subscribers, toNotice } from './subscribers.ts';

/** The bus of a gateway that does not share its database. */
export function createInProcessBus({ logger }: { logger?: Logger } = {}): Bus {
  const subscribers = new Subscribers(logger);
  return {
    publish(events) {
      for (const event of events) subscribers.notify(toNotice(event));
    },
    subscribe: (stream, listener) => subscribers.add(stream, listener),
    async start() {},
    async stop() {},
  };
}
