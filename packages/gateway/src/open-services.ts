import { join } from 'node:path';
import type { Logger } from '@lastcall/core';
import { createInProcessBus } from './bus/in-process-bus.ts';
import { createPostgresBus } from './bus/postgres-bus.ts';
import type { Settings } from './config/settings.ts';
import { createGraphileEngine } from './engine/graphile-engine.ts';
import { createInProcessEngine } from './engine/in-process-engine.ts';
import type { Limits } from './limits.ts';
import type { Services } from './services.ts';
import { openPostgresStore } from './store/postgres-store.ts';
import { openSqliteStore } from './store/sqlite-store.ts';

export interface OpenedServices {
  readonly services: Services;
  close(): Promise<void>;
}

interface Opening {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly synchronous: 'FULL' | 'NORMAL' | undefined;
}

/** The three ports: embedded, or on one PostgreSQL database that several gateways share. */
export async function openServices(opening: Opening): Promise<OpenedServices> {
  const { settings, logger, limits } = opening;
  const ports =
    settings.databaseUrl === undefined ? await embedded(opening) : await shared(settings.databaseUrl, opening);
  const services: Services = { ...ports, logger, limits };
  await services.bus.start();
  return {
    services,
    async close() {
      await services.bus.stop();
      await services.store.close();
    },
  };
}

type Ports = Pick<Services, 'store' | 'engine' | 'bus'>;

async function embedded({ settings, logger, synchronous }: Opening): Promise<Ports> {
  const store = await openSqliteStore({
    home: join(settings.home),
    ...(synchronous === undefined ? {} : { synchronous }),
  });
  return { store, engine: createInProcessEngine({ logger }), bus: createInProcessBus({ logger }) };
}

async function shared(url: string, { logger }: Opening): Promise<Ports> {
  const store = await openPostgresStore({ url });
  try {
    return { store, engine: await createGraphileEngine({ url, logger }), bus: createPostgresBus({ url, logger }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}
