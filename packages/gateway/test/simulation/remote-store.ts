import { type CompiledQuery, type DatabaseConnection, type Driver, Kysely, type QueryResult } from 'kysely';
import { runOn } from '../../src/ports/store/kysely-on.ts';
import {
  type BegunTransaction,
  runTransaction,
  type TransactionSource,
} from '../../src/ports/store/run-transaction.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { type SqliteDriver, sqliteDialect } from '../../src/ports/store/sqlite/sqlite-driver.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { StoreUnavailable } from '../../src/ports/store/store-error.ts';
import type { StoreParts } from '../../src/ports/store/store-parts.ts';
import type { Chances } from './faults.ts';
import type { WorldDatabase } from './memory-database.ts';
import type { Surroundings } from './surroundings.ts';
import type { SimProcess } from './virtual-time.ts';

const HARM = { die: 0.001, stall: 0.001, 'jump-clock': 0.0005, outage: 0.0005, refuse: 0.001 };
const HARM_AFTER = { die: 0.001, stall: 0.001, 'lose-answer': 0.001 };
const HARM_BETWEEN = { 'undo-commit': 0.001 };

/** Most transactions are sweeps that find nothing. Those of a run are urgent, and more happens to them. */
const URGENT = 6;

function timesUrgent(chances: Chances, isUrgent: boolean): Chances {
  if (!isUrgent) return chances;
  return Object.fromEntries(Object.entries(chances).map(([kind, likely]) => [kind, URGENT * likely]));
}

/**
 * The store of one simulated gateway: the shared database, as if it were reached through a network. A request and its answer take time, so
 * others write in between, and the process may die or stall on either way.
 */
export function openRemoteStore(
  world: Surroundings,
  { process, database, parts }: { process: SimProcess; database: WorldDatabase; parts: StoreParts },
): Store {
  const { time, faults } = world;

  /** The latency of a message to the database or back. */
  async function travel(): Promise<void> {
    await time.sleep(0.2 + 3 * faults.number(`${process.name} travel`) ** 3);
  }

  async function arrive(what: string, isUrgent = false): Promise<void> {
    const fault = faults.at(`${process.name} ${what}`, timesUrgent(HARM, isUrgent));
    if (fault === 'refuse') throw away();
    if (fault !== undefined) world.harm(fault, process);
    await travel();
    if (world.isDatabaseAway()) throw away();
  }

  async function open({ isUrgent }: { isUrgent: boolean }): Promise<BegunTransaction> {
    const kind = isUrgent ? 'urgent ' : '';
    await arrive(`${kind}begin`, isUrgent);
    const begun = await database.open();
    const end = world.onDeath(process, () => void begun.rollback());
    return {
      ...begun,
      async commit() {
        const undone = faults.at(`${process.name} ${kind}commit`, timesUrgent(HARM_BETWEEN, isUrgent));
        if (undone !== undefined || world.isDatabaseAway()) {
          end();
          await begun.rollback();
          await travel();
          throw away({ inDoubt: true });
        }
        end();
        await begun.commit();
        const fault = faults.at(`${process.name} ${kind}answer`, timesUrgent(HARM_AFTER, isUrgent));
        if (fault === 'die' || fault === 'stall') world.harm(fault, process);
        await travel();
        if (fault === 'lose-answer') throw away({ inDoubt: true });
      },
      async rollback() {
        end();
        await begun.rollback();
      },
    };
  }

  const driver = new RemoteDriver(database.driver, arrive, travel);
  const db = new Kysely<Tables>({ dialect: { ...sqliteDialect(database.driver), createDriver: () => driver } });
  runOn(db, {
    executeQuery: (query) => driver.ask(query),
    streamQuery: () => database.driver.connection.streamQuery(),
  });
  const source: TransactionSource = {
    dialect: 'sqlite',
    // The database's clock, which no process can change.
    now: () => Math.floor(time.now),
    abortsOnError: false,
    parts,
    open,
  };
  return {
    dialect: 'sqlite',
    db,
    transaction: (work, options) => runTransaction(source, work, options),
    isBusy: false,
    claimsAtOnce: 8,
    rowsAtOnce: 100,
    // A database in memory has no files.
    reclaim: async () => {},
    ping: async () => void (await arrive('ping')),
    async close() {},
  };
}

function away(options?: { inDoubt: boolean }): StoreUnavailable {
  return new StoreUnavailable(new Error('The connection broke.'), options);
}

/** Runs statements outside of transactions. */
class RemoteDriver implements Driver {
  readonly #inner: SqliteDriver;
  readonly #arrive: (what: string) => Promise<void>;
  readonly #travel: () => Promise<void>;

  constructor(inner: SqliteDriver, arrive: (what: string) => Promise<void>, travel: () => Promise<void>) {
    this.#inner = inner;
    this.#arrive = arrive;
    this.#travel = travel;
  }

  async ask<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.#arrive('read');
    const result = await this.#inner.executeAlone<R>(query);
    await this.#travel();
    return result;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return { executeQuery: (query) => this.ask(query), streamQuery: () => this.#inner.connection.streamQuery() };
  }

  async init(): Promise<void> {}
  async beginTransaction(): Promise<void> {
    throw new Error('Transactions of Kysely are not used.');
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}
