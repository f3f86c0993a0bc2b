import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '@lastcall/gateway/testing';
import { afterEach } from 'vitest';
import { forEachTest } from '../support/for-all-tests.ts';
import type { Database } from '../support/stores.ts';

interface ErasureGateways {
  /** The folder of a gateway whose database is elsewhere. */
  readonly home: { readonly path: string };
  /** Starts a gateway on the database of the test. It is stopped after the test. */
  open(model: Parameters<typeof scriptedModel>[0], config?: Omit<TestGatewayOptions, 'model'>): Promise<TestGateway>;
  /** Stops them now, so that nothing writes to the files that are searched. */
  stop(): Promise<void>;
}

/** For each test of a file: gateways on its database, whose files can be searched. */
export function erasureGateways(database: Pick<Database, 'kind' | 'location'>): ErasureGateways {
  const home = forEachTest(async () => {
    const path = await mkdtemp(join(tmpdir(), 'lastcall-erasure-'));
    return { path, remove: () => rm(path, { recursive: true, force: true }) };
  });
  const gateways: TestGateway[] = [];
  const stop = async (): Promise<void> => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
  };
  afterEach(stop);
  return {
    home,
    stop,
    async open(model, config = {}) {
      const where =
        database.kind === 'postgres'
          ? { databaseUrl: database.location, home: home.path }
          : { home: database.location };
      // An erasure waits for one and a half leases for a run that does not end.
      const tuning = { sweepMs: 250, graceMs: 100, leaseMs: 2_000 };
      const gateway = await startTestGateway({ ...config, ...where, model: scriptedModel(model), tuning });
      gateways.push(gateway);
      return gateway;
    },
  };
}
