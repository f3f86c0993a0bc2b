import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@lastcall/core';
import type { Bus } from './bus.ts';
import { KeptConnection } from './kept-connection.ts';
import { Outbox } from './outbox.ts';
import { packNotices, unpackNotices } from './packet.ts';
import { Subscribers, toNotice } from './subscribers.ts';

export interface PostgresBusOptions {
  readonly url: string;
  readonly logger?: Logger;
}

/** The one channel of the database that all gateways listen to. */
const CHANNEL = 'lastcall_stream';

/** For gateways that share a PostgreSQL database: notices travel by NOTIFY, on a connection of their own and not with the data. */
export function createPostgresBus({ url, logger }: PostgresBusOptions): Bus {
  /** What this process published is told here at once, and is known by it when it comes back. */
  const self = randomUUID();
  const subscribers = new Subscribers(logger);
  const onBreak = (error: unknown): void =>
    logger?.warn('The bus lost a connection to the database, and connects anew.', error);
  const publisher = new KeptConnection({ url, onBreak, onConnect: async () => outbox.open() });
  const outbox = new Outbox((notices) =>
    publisher.query('select pg_notify($1, packet) from unnest($2::text[]) as packet', [
      CHANNEL,
      packNotices(self, notices),
    ]),
  );
  const listener = new KeptConnection({
    url,
    onBreak,
    onNotification: receive,
    async onConnect(client) {
      await client.query(`listen ${CHANNEL}`);
      lookAll();
    },
  });

  function receive(packet: string): void {
    const unpacked = unpackNotices(packet);
    if (unpacked === undefined) logger?.warn(`The bus ignored a notification on ${CHANNEL} that no gateway sent.`);
    else if (unpacked.from !== self) for (const notice of unpacked.notices) subscribers.tell(notice);
  }

  /** Nobody knows what was said while no one listened. */
  function lookAll(): void {
    for (const channel of subscribers.channels) subscribers.tell({ channel, seq: 0 });
  }

  async function end(): Promise<void> {
    await Promise.all([listener.end(), publisher.end()]);
  }

  return {
    publish(events) {
      for (const event of events) subscribers.tell(toNotice(event));
      outbox.add(events);
    },
    subscribe: (channel, listener) => subscribers.add(channel, listener),
    async start() {
      try {
        await Promise.all([listener.start(), publisher.start()]);
      } catch (error) {
        await end();
        throw error;
      }
    },
    async stop() {
      await Promise.race([outbox.close(), sleep(LAST_WORDS_MS, undefined, { ref: false })]);
      await end();
    },
  };
}

/** What an unreachable database may hold a stop up for. */
const LAST_WORDS_MS = 1_000;
