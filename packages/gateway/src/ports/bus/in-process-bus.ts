import type { Logger } from '@lastcall/core';
import type { Bus } from './bus.ts';
import { Subscribers, toNotice } from './subscribers.ts';

/** For one gateway by itself. */
export function createInProcessBus({ logger }: { logger?: Logger } = {}): Bus {
  const subscribers = new Subscribers(logger);
  return {
    publish(events) {
      for (const event of events) subscribers.tell(toNotice(event));
    },
    subscribe: (channel, listener) => subscribers.add(channel, listener),
    async start() {},
    async stop() {},
  };
}
