import { join } from 'node:path';
import type { Logger } from '@lastcall/core';
import type { GatewayLimits } from '../config/limits.ts';
import type { ModelPrices } from '../config/prices.ts';
import type { Settings } from '../config/settings.ts';
import { createInProcessBus } from '../ports/bus/in-process-bus.ts';
import { createPostgresBus } from '../ports/bus/postgres-bus.ts';
import { createEngine, type Engine } from '../ports/engine/engine.ts';
import type { Services } from '../ports/services.ts';
import { toOpenError } from '../ports/store/postgres/postgres-open-error.ts';
import { openPostgresStore } from '../ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../ports/store/sqlite/sqlite-store.ts';

export interface OpenedServices {
  readonly services: Services;
  close(): Promise<void>;
}

interface Opening {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly limits: GatewayLimits;
  readonly prices: ModelPrices;
  readonly synchronous: 'FULL' | 'NORMAL' | undefined;
}

/** Opens store, engine and bus: embedded, or on a PostgreSQL database that several gateways share. */
export async function openServices(opening: Opening): Promise<OpenedServices> {
  const { settings, logger, limits, prices } = opening;
  const engine = createEngine({ logger });
  const ports =
    settings.databaseUrl === undefined
      ? await embedded(opening, engine)
      : await shared(settings.databaseUrl, opening, engine);
  const services: Services = { ...ports, engine, logger, limits, prices };
  await services.bus.start();
  return {
    services,
    async close() {
      await services.bus.stop();
      await services.store.close();
    },
  };
}

type Ports = Pick<Services, 'store' | 'bus'>;

async function embedded({ settings, logger, limits, synchronous }: Opening, engine: Engine): Promise<Ports> {
  const bus = createInProcessBus({ logger });
  const options = { home: join(settings.home), ...(synchronous === undefined ? {} : { synchronous }) };
  return { bus, store: await openSqliteStore(options, { bus, engine, limits }) };
}

async function shared(url: string, { logger, limits }: Opening, engine: Engine): Promise<Ports> {
  const bus = createPostgresBus({ url, logger });
  const store = await openPostgresStore({ url }, { bus, engine, limits }).catch((error) => {
    throw toOpenError(error, url);
  });
  return { bus, store };
}
