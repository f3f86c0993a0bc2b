import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../packages/gateway/src/domain/new-id.ts';
import { toJson } from '../../packages/gateway/src/ports/store/schema/json.ts';
import type { Tx } from '../../packages/gateway/src/ports/store/store.ts';
import { heldAtMost } from '../held.ts';
import { median } from '../measure.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';
import { startGateway } from './start-gateway.ts';

const FEW = 10;
const MANY = 100_000;
const STARTS = 5;
/** Long enough for a few sweeps, whose cost might grow with the number of agents. */
const SETTLE_MS = 3_000;

interface Start {
  readonly ms: number;
  readonly memory: number;
}

/** What agents cost that have nothing to do. */
export async function benchGatewaySleepingAgents(): Promise<Report> {
  const databases = openDatabases();
  try {
    const [few, many] = [await databases.sqlite(), await databases.sqlite()];
    await fill(few, FEW);
    await fill(many, MANY);
    const starts: { few: Start[]; many: Start[] } = { few: [], many: [] };
    // The first start of each is discarded: its file is not in the page cache yet.
    for (let count = 0; count <= STARTS; count++) {
      starts.few.push(await startOn(few));
      starts.many.push(await startOn(many));
    }
    return toReport(middle(starts.few.slice(1)), middle(starts.many.slice(1)));
  } finally {
    await databases.close();
  }
}

async function fill(database: BenchDatabase, count: number): Promise<void> {
  const filling = await database.open();
  for (let made = 0; made < count; made += CHUNK)
    await filling.store.transaction((tx) => insertAgents(tx, Math.min(CHUNK, count - made)));
  await filling.close();
}

/** As many as fit into the parameters of one statement. */
const CHUNK = 1_000;

async function insertAgents(tx: Tx, count: number): Promise<void> {
  const now = tx.now();
  const ids = Array.from({ length: count }, () => newId());
  const config = toJson({ name: 'Sleeper', instructions: 'Wait.', model: 'instant', tools: [task.toolName] });
  const none = { lease_owner: null, lease_until: 0, epoch: 0, state: null };
  await tx.db
    .insertInto('entities')
    .values(
      ids.map((id) => ({
        id,
        project_id: 'default',
        kind: 'agent' as const,
        external_id: null,
        display_name: 'Sleeper',
        metadata: '{}',
        created_at: now,
        deleted_at: null,
        spaces_joined: 0,
      })),
    )
    .execute();
  await tx.db
    .insertInto('agents')
    .values(
      ids.map((id) => ({
        id,
        project_id: 'default',
        entity_id: id,
        name: 'Sleeper',
        config,
        config_version: 1,
        status: 'active' as const,
        active_space_id: null,
        last_error: null,
        tag: id,
        created_at: now,
        updated_at: now,
      })),
    )
    .execute();
  await tx.db
    .insertInto('threads')
    .values(ids.map((id) => ({ id, kind: 'agent' as const, agent_id: id, ...none })))
    .execute();
}

async function startOn({ settings }: BenchDatabase): Promise<Start> {
  const gateway = await startGateway({ settings, tool: { terminal: true, visible: false } });
  await sleep(SETTLE_MS);
  const memory = await gateway.memory();
  await gateway.stop();
  return { ms: gateway.startMs, memory };
}

function middle(starts: readonly Start[]): Start {
  return { ms: median(starts.map(({ ms }) => ms)), memory: median(starts.map(({ memory }) => memory)) };
}

function toReport(few: Start, many: Start): Report {
  return {
    title: 'Sleeping agents',
    claim: `Fresh processes on SQLite in turns, the median of ${STARTS}: from the start of the process until it listens, and its memory after ${SETTLE_MS / 1_000} s of sweeps and a collection.`,
    columns: ['agents', 'start, ms', 'memory, MB'],
    rows: [
      [FEW.toLocaleString('en'), few.ms, few.memory / 1e6],
      [MANY.toLocaleString('en'), many.ms, many.memory / 1e6],
    ],
    findings: [
      heldAtMost('More memory', (many.memory - few.memory) / 1e6, 20, ' MB'),
      heldAtMost('Longer start', (many.ms - few.ms) / 1_000, 0.3, ' s'),
    ],
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewaySleepingAgents()));
