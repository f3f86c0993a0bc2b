import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@lastcall/core';
import { StoreRefused } from '../store/store-error.ts';
import type { Bus } from './bus.ts';
import { Outbox } from './outbox.ts';
import { emptyPacket, isPacketOf, packNotices, unpackNotices } from './packet.ts';
import { ReconnectingClient } from './reconnecting-client.ts';
import { Subscribers, toNotice } from './subscribers.ts';

export interface PostgresBusOptions {
  readonly url: string;
  /** The address of the server itself, if a pooler in transaction mode answers at `url`. LISTEN needs a session. */
  readonly directUrl?: string | undefined;
  readonly logger?: Logger;
}

/** The one channel of the database that all gateways listen to. */
const CHANNEL = 'lastcall_stream';

/** The bus of gateways that share a PostgreSQL database. Notices are sent by NOTIFY, on separate connections. */
export function createPostgresBus({ url, directUrl, logger }: PostgresBusOptions): Bus {
  /**
   * Marks our own notices. They are ignored when they come back, because the subscribers of this process already got
   * them.
   */
  const gatewayId = randomUUID();
  const subscribers = new Subscribers(logger);
  const onBreak = (error: unknown): void =>
    logger?.warn('The bus lost a connection to the database, and reconnects.', error);
  const onAway = (error: unknown): void =>
    logger?.warn('The bus still has no connection to the database: events between gateways wait until it has.', error);
  const publisher = new ReconnectingClient({ url, onBreak, onAway, onConnect: async () => outbox.open() });
  // As lines, because the quotes of packets would have to be escaped in an array.
  const outbox = new Outbox((notices) =>
    publisher.query('select pg_notify($1, packet) from unnest(string_to_array($2, chr(10))) as packet', [
      CHANNEL,
      packNotices(gatewayId, notices).join('\n'),
    ]),
  );
  const echo = Promise.withResolvers<void>();
  const listener = new ReconnectingClient({
    url: directUrl ?? url,
    onBreak,
    onAway,
    onNotification: receive,
    async onConnect(client) {
      await client.query(`listen ${CHANNEL}`);
      makeAllReadersLook();
    },
  });

  function receive(packet: string): void {
    if (isPacketOf(gatewayId, packet)) {
      echo.resolve();
      return;
    }
    const unpacked = unpackNotices(packet);
    if (unpacked === undefined) logger?.warn(`The bus ignored a notification on ${CHANNEL} that no gateway sent.`);
    else if (unpacked.from !== gatewayId) for (const notice of unpacked.notices) subscribers.notify(notice);
  }

  /** Makes all readers look, because notices may have been missed while the connection was down. */
  function makeAllReadersLook(): void {
    for (const stream of subscribers.streams) subscribers.notify({ stream, seq: 0 });
  }

  /** Both URLs must lead to one database. Otherwise other gateways' notices would never arrive, and nothing would say so. */
  async function assertSameDatabase(): Promise<void> {
    await publisher.query('select pg_notify($1, $2)', [CHANNEL, emptyPacket(gatewayId)]);
    const isHeard = await Promise.race([echo.promise.then(() => true), sleep(ECHO_MS, false, { ref: false })]);
    if (!isHeard)
      throw new StoreRefused(
        `A notification that was sent through DATABASE_URL did not arrive at DATABASE_DIRECT_URL within ${ECHO_MS / 1_000} seconds. Both must lead to the same database of the same server.`,
      );
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
        if (directUrl !== undefined) await assertSameDatabase();
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

/** How long a notification may take to arrive. */
const ECHO_MS = 5_000;
/** How long an unreachable database may delay a stop. */
const STOP_MS = 1_000;
