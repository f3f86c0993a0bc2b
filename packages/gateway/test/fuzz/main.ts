import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../src/ports/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import { numberOption, readArguments, refuse } from '../support/command-options.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type FuzzOptions, fuzz } from './fuzz.ts';

/** `npm run fuzz`: sends 100,000 generated requests to all endpoints of a gateway, and prints the results. */
const HELP = `Sends generated requests to all endpoints of a gateway. See docs/simulation.md.
  --requests N    how many (100,000)
  --seed N        the same seed gives the same requests
  --store NAME    sqlite or postgres (sqlite)`;

const { values } = readArguments(HELP, {
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    store: { type: 'string', default: 'sqlite' },
  },
});
const [requests, seed] = [numberOption('requests', values.requests, 1), numberOption('seed', values.seed, 0)];
if (!['sqlite', 'postgres'].includes(values.store)) refuse(`--store ${values.store}: give sqlite or postgres.`);
const home = await mkdtemp(join(tmpdir(), 'lastcall-fuzz-'));
const server = values.store === 'postgres' ? await startPostgres() : undefined;
const url = await server?.createDatabase();
const database: FuzzOptions['database'] =
  url === undefined
    ? { kind: 'sqlite', location: home, open: () => openSqliteStore({ home, synchronous: 'NORMAL' }) }
    : { kind: 'postgres', location: url, open: () => openPostgresStore({ url, connections: 2 }) };

const began = Date.now();
const { problems, statuses, memory } = await fuzz({ seed, requests, database, log: print });
await server?.stop();
await rm(home, { recursive: true, force: true });
const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`);
print(
  `Seed ${seed}, ${values.store}: ${requests} requests in ${Math.round((Date.now() - began) / 1_000)} s. ${counts.join(', ')}.`,
);
print(`Memory: ${megabytes(memory.early)} MB after a tenth of them, ${megabytes(memory.late)} MB at the end.`);
print(`Problems: ${problems.length}.`);
for (const problem of problems) print(`- ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
