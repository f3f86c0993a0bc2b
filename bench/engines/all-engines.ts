import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../packages/gateway/test/support/postgres-server.ts';
import { type EngineFile, type StartedEngine, startEngine } from './start-engine.ts';

const FILES: readonly EngineFile[] = [
  { file: './lastcall.ts', name: 'Lastcall, PostgreSQL' },
  { file: './lastcall.ts', name: 'Lastcall, SQLite' },
  { file: '../peers/engines/restate.ts', name: 'Restate' },
  { file: '../peers/engines/dbos.ts', name: 'DBOS, PostgreSQL' },
  { file: '../peers/engines/absurd.ts', name: 'Absurd, PostgreSQL' },
  { file: '../peers/engines/openworkflow.ts', name: 'OpenWorkflow, PostgreSQL' },
  { file: '../peers/engines/openworkflow.ts', name: 'OpenWorkflow, SQLite' },
  { file: '../peers/engines/langgraph.ts', name: 'LangGraph, PostgreSQL' },
];

/** `BENCH_ENGINES=lastcall,restate` starts only those. */
export function chosenEngines(): readonly EngineFile[] {
  const wanted = process.env.BENCH_ENGINES?.toLowerCase().split(',');
  return FILES.filter(({ name }) => wanted?.some((one) => name.toLowerCase().includes(one)) ?? true);
}

/** Steps of a run, the same for all. */
export const STEPS = 60;
export const RUNS_AT_ONCE = 20;

/** Starts and closes the engines. All use one PostgreSQL server; each has a separate database and folder. */
export interface Engines {
  start(file: EngineFile): Promise<StartedEngine>;
  close(): Promise<void>;
}

export async function openEngines(): Promise<Engines> {
  const server: PostgresServer = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'lastcall-engines-'));
  return {
    start: async (file) =>
      startEngine(file, {
        databaseUrl: await server.createDatabase(),
        folder: await mkdtemp(join(folder, 'engine-')),
        steps: STEPS,
        atOnce: RUNS_AT_ONCE,
      }),
    async close() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An engine that cannot be started, e.g. because it is not installed, is left out, and the report names it. */
export async function startOrLeaveOut(
  engines: Engines,
  file: EngineFile,
  leftOut: string[],
): Promise<StartedEngine | undefined> {
  try {
    return await engines.start(file);
  } catch (error) {
    leaveOut(file, error, leftOut);
    return undefined;
  }
}

export function leaveOut({ name }: EngineFile, error: unknown, leftOut: string[]): void {
  console.warn(`${name} is left out:`, error);
  const [reason = ''] = String(error).split('\n');
  leftOut.push(`${name} is left out: ${reason.replace(/^(Error: )+/, '')}`);
}
