import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@lastcall/core';
import type { Bus } from './bus.ts';
import { Outbox } from './outbox.ts';
import { isPacketOf, packNotices, unpackNotices } from './packet.ts';
import { ReconnectingClient } from './reconnecting-client.ts';
import { Subscribers, toNotice } from './subscribers.ts';

export interface PostgresBusOptions {
  readonly url: string;
  readonly logger?: Logger;
}

/** The one channel of the database that all gateways listen to. */
const CHANNEL = 'lastcall_stream';

/** The bus of gateways that share a PostgreSQL database. Notices are sent by NOTIFY, on separate connections. */
export function createPostgresBus({ url, logger }: PostgresBusOptions): Bus {
  /**
   * Marks our own notices. They are ignored when they come back, because the subscribers of this process already got
   * them.
   */
  const gatewayId = randomUUID();
  const subscribers = new Subscribers(logger);
  const onBreak = (error: unknown): void =>
    logger?.warn('The bus lost a connection to the database, and reconnects.', error);
  const publisher = new ReconnectingClient({ url, onBreak, onConnect: async () => outbox.open() });
  const outbox = new Outbox((notices) =>
    publisher.query('select pg_notify($1, packet) from unnest($2::text[]) as packet', [
      CHANNEL,
      packNotices(gatewayId, notices),
    ]),
  );
  const listener = new ReconnectingClient({
    url,
    onBreak,
    onNotification: receive,
    async onConnect(client) {
      await client.query(`listen ${CHANNEL}`);
      makeAllReadersLook();
    },
  });

  function receive(packet: string): void {
    if (isPacketOf(gatewayId, packet)) return;
    const unpacked = unpackNotices(packet);
    if (unpacked === undefined) logger?.warn(`The bus ignored a notification on ${CHANNEL} that no gateway sent.`);
    else if (unpacked.from !== gatewayId) for (const notice of unpacked.notices) subscribers.notify(notice);
  }

  /** Makes all readers look, because notices may have been missed while the connection was down. */
  function makeAllReadersLook(): void {
    for (const stream of subscribers.streams) subscribers.notify({ stream, seq: 0 });
  }

  async function end(): Promise<void> {
    await Promise.all([listener.end(), publisher.end()]);
  }

  return {
    publish(events) {
      for (const event of events) subscribers.notify(toNotice(event));
      outbox.add(events);
    },
    subscribe: (stream, listener) => subscribers.add(stream, listener),
    async start() {
      try {
        await Promise.all([listener.start(), publisher.start()]);
      } catch (error) {
        await end();
        throw error;
      }
    },
    async stop() {
      await Promise.race([outbox.close(), sleep(STOP_MS, undefined, { ref: false })]);
      await end();
    },
  };
}

/** How long an unreachable database may delay a stop. */
const STOP_MS = 1_000;
