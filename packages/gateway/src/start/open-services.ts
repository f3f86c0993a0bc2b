import { join } from 'node:path';
import type { Logger } from '@lastcall/core';
import type { GatewayLimits } from '../config/limits.ts';
import type { ModelPrices } from '../config/prices.ts';
import type { Settings } from '../config/settings.ts';
import { createInProcessBus } from '../ports/bus/in-process-bus.ts';
import { createPostgresBus } from '../ports/bus/postgres-bus.ts';
import type { Services } from '../ports/services.ts';
import { toStoreError } from '../ports/store/postgres/postgres-error.ts';
import { toOpenError } from '../ports/store/postgres/postgres-open-error.ts';
import { openPostgresStore } from '../ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../ports/store/sqlite/sqlite-store.ts';
import { Scheduler } from '../runtime/scheduler.ts';

export interface OpenedServices {
  readonly services: Services;
  /** Gets the wakes of the store, and is started by the worker. */
  readonly scheduler: Scheduler;
  close(): Promise<void>;
}

interface Opening {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly limits: GatewayLimits;
  readonly prices: ModelPrices;
  readonly currency: string;
  readonly synchronous: 'FULL' | 'NORMAL' | undefined;
}

/** Opens store and bus: embedded, or on a PostgreSQL database that several gateways share. */
export async function openServices(opening: Opening): Promise<OpenedServices> {
  const { settings, logger, limits, prices, currency } = opening;
  const scheduler = new Scheduler({ slots: limits.runs });
  const ports =
    settings.databaseUrl === undefined
      ? await embedded(opening, scheduler)
      : await shared(settings.databaseUrl, opening, scheduler);
  const services: Services = { ...ports, logger, limits, prices, currency };
  await services.bus.start().catch(async (error: unknown) => {
    await services.store.close();
    throw toBusError(error, settings);
  });
  return {
    services,
    scheduler,
    async close() {
      await services.bus.stop();
      await services.store.close();
    },
  };
}

type Ports = Pick<Services, 'store' | 'bus'>;

async function embedded({ settings, logger, limits, synchronous }: Opening, scheduler: Scheduler): Promise<Ports> {
  const bus = createInProcessBus({ logger });
  const onLost = (error: Error): void => logger.error('The store is lost until the gateway is started again.', error);
  const onFull = (error: unknown): void =>
    logger.error('The disk of the database is full. Work waits until there is room.', error);
  const options = { home: join(settings.home), onLost, onFull, ...(synchronous === undefined ? {} : { synchronous }) };
  return { bus, store: await openSqliteStore(options, { bus, scheduler, limits }) };
}

/** The listener is the first to need the server itself. */
function toBusError(error: unknown, { databaseUrl, databaseDirectUrl }: Settings): unknown {
  const url = databaseDirectUrl ?? databaseUrl;
  if (url === undefined) return error;
  return toOpenError(
    toStoreError(error),
    url,
    databaseDirectUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL',
  );
}

async function shared(url: string, { settings, logger, limits }: Opening, scheduler: Scheduler): Promise<Ports> {
  const directUrl = settings.databaseDirectUrl;
  const bus = createPostgresBus({ url, directUrl, logger });
  const store = await openPostgresStore({ url, directUrl }, { bus, scheduler, limits }).catch((error) => {
    throw toOpenError(error, url);
  });
  return { bus, store };
}
