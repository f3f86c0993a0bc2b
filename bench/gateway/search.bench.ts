import { newId } from '../../packages/gateway/src/domain/new-id.ts';
import { createProject } from '../../packages/gateway/src/domain/projects/project.ts';
import { updateIndex } from '../../packages/gateway/src/domain/search/update-index.ts';
import { createSpace } from '../../packages/gateway/src/domain/spaces/space.ts';
import { toJson } from '../../packages/gateway/src/ports/store/schema/json.ts';
import type { Store, Tx } from '../../packages/gateway/src/ports/store/store.ts';
import { heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { type BenchDatabase, onEachStore } from './databases.ts';
import { percentile } from './percentiles.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';

const ENTRIES = Number(process.env.BENCH_ENTRIES ?? 1_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const MOST_MS = 200;
const CHUNK = 500;
/** Every fifth entry is of a call, which has an input and an output. The others are messages. */
const CALLS = Math.floor(ENTRIES / 10);
const MESSAGES = ENTRIES - 2 * CALLS;
const CALLS_PER_RUN = 10;
const SPACES = 20;

/** What is searched for, and why it is hard. */
const QUERIES: Readonly<Record<string, string>> = {
  'a word in every entry': 'q=harbour',
  'two words that are in half of the entries, never together': 'q=even%20odd',
  'a word in one entry': `q=unique${Math.floor(MESSAGES / 2)}`,
  'a word in no entry': 'q=nowhere',
  'a word in the older half only': 'q=ancient',
  'a phrase': 'q=%22the%20ships%20in%20it%22',
  'a phrase whose words are in every entry, and which is in none': 'q=%22ships%20harbour%22',
  'a prefix of words in every entry': 'q=harb*',
  'a prefix of many different words': 'q=unique12*',
  'common words in outputs': 'q=harbour%20gate&kind=output',
};

interface Measured {
  readonly store: string;
  /** What adding an entry to the index costs, in microseconds. */
  readonly perEntry: number;
  readonly times: ReadonlyMap<string, readonly number[]>;
}

/** How long a search takes. The last query is for a word that every entry has, in a project with a hundred entries. */
export async function benchGatewaySearch(): Promise<Report> {
  return toReport(await onEachStore(measure));
}

async function measure(store: string, database: BenchDatabase): Promise<Measured> {
  const filling = await database.open();
  const [agentId = ''] = await filling.agents(1, { model: 'instant', tools: [task.toolName] });
  await fill(filling.store, agentId);
  const startedAt = performance.now();
  await updateIndex(filling);
  const perEntry = ((performance.now() - startedAt) * 1_000) / ENTRIES;
  await filling.close();
  const gateway = await startGateway({ settings: database.settings, tool: { terminal: true, visible: false } });
  try {
    return { store, perEntry, times: await searchTimes(gateway) };
  } finally {
    await gateway.stop();
  }
}

async function fill(store: Store, agentId: string): Promise<void> {
  const now = await store.transaction(async (tx) => tx.now());
  const spaces: string[] = [];
  for (let index = 0; index < SPACES; index++)
    spaces.push((await store.transaction((tx) => createSpace(tx, { name: `Room ${index}` }))).id);
  const timeOf = (share: number): number => Math.floor(now - (1 - share) * 30 * 86_400_000);
  const each = Math.floor(MESSAGES / SPACES);
  // Messages are in the order of their times, in turns of the spaces.
  for (let round = 0; round * CHUNK < each; round++)
    for (const [index, spaceId] of spaces.entries()) {
      const first = round * CHUNK;
      const count = Math.min(CHUNK, each - first);
      await store.transaction((tx) =>
        insertMessages(tx, { spaceId, first, count, number: index * each + first, at: timeOf(first / each) }),
      );
    }
  for (let first = 0; first < CALLS; first += CHUNK)
    await store.transaction((tx) => insertCalls(tx, { agentId, first, at: timeOf(first / CALLS) }));
  await store.transaction(async (tx) => {
    const { id: project } = await createProject(tx, { id: 'small' });
    const { id: spaceId } = await createSpace(tx, { name: 'Small', project });
    await insertMessages(tx, { spaceId, first: 0, count: 100, number: MESSAGES, at: timeOf(0.2) });
  });
}

interface Inserted {
  readonly spaceId: string;
  /** How many messages the space has before. */
  readonly first: number;
  readonly count: number;
  readonly number: number;
  readonly at: number;
}

async function insertMessages(tx: Tx, { spaceId, first, count, number, at }: Inserted): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const n = number + index;
    const age = (first + index) * SPACES < MESSAGES / 2 ? 'ancient' : 'recent';
    const text = `This ${age} message ${n} is about harbour ${n % 997} and the ships in it, on an ${n % 2 === 0 ? 'even' : 'odd'} day: unique${n}.`;
    return {
      ...{ id: newId(at), space_id: spaceId, seq: first + index + 1, entity_id: 'nobody', kind: 'text' as const },
      ...{ status: 'complete' as const, content: toJson(text), metadata: '{}' },
      ...{ created_at: at + index, updated_at: at + index },
    };
  });
  await tx.db.insertInto('messages').values(rows).execute();
  const next_seq = first + count + 1;
  await tx.db.updateTable('spaces').set({ next_seq }).where('id', '=', spaceId).execute();
}

async function insertCalls(
  tx: Tx,
  { agentId, first, at }: { agentId: string; first: number; at: number },
): Promise<void> {
  const runs = Array.from({ length: CHUNK / CALLS_PER_RUN }, () => newId(at));
  await tx.db
    .insertInto('runs')
    .values(
      runs.map(
        (id, index) =>
          ({
            ...{ id, thread_id: agentId, turn_id: id, trigger: '[]', status: 'completed', epoch: 0, config_version: 1 },
            ...{ number: first / CALLS_PER_RUN + index + 1, attempts: 0, taken_seq: 0, attempt: 1 },
            ...{ created_at: at, ended_at: at + index },
          }) as never,
      ),
    )
    .execute();
  await tx.db
    .insertInto('calls')
    .values(
      Array.from({ length: CHUNK }, (_, index) => {
        const n = first + index;
        const text = `Gate ${n % 31} of harbour ${n % 997} is open on ${n % 2 === 0 ? 'even' : 'odd'} days.`;
        return {
          ...{ id: newId(at), thread_id: agentId, agent_id: agentId, run_id: runs[Math.floor(index / CALLS_PER_RUN)] },
          ...{ step: 1, index: index % CALLS_PER_RUN, tool_name: 'find_gate', status: 'settled' },
          ...{ input: toJson({ harbour: n % 997, day: n }), outcome_status: 'ok', idempotency_key: `key ${n}` },
          ...{ outcome: toJson({ status: 'ok', value: text, text }), created_at: at + index, settled_at: at + index },
        } as never;
      }),
    )
    .execute();
}

async function searchTimes(gateway: BenchGateway): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>();
  const timed = async (name: string, query: string, project?: string): Promise<void> => {
    const headers = {
      authorization: `Bearer ${gateway.secretKey}`,
      ...(project === undefined ? {} : { 'lastcall-project': project }),
    };
    const startedAt = performance.now();
    const answer = await fetch(`${gateway.url}/api/search?${query}`, { headers });
    await answer.json();
    if (answer.status !== 200) throw new Error(`${query}: ${answer.status}`);
    times.set(name, [...(times.get(name) ?? []), performance.now() - startedAt]);
  };
  for (const query of Object.values(QUERIES)) await timed('warm-up', query);
  times.clear();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, query] of Object.entries(QUERIES)) await timed(name, query);
    await timed('a word in every entry, in a small project', 'q=harbour', 'small');
  }
  return times;
}

function toReport(measured: readonly Measured[]): Report {
  const names = [...(measured[0]?.times.keys() ?? [])];
  const p95 = ({ times }: Measured, name: string): number => percentile([...(times.get(name) ?? [])], 0.95);
  return {
    title: 'Search over all texts',
    claim: `${ENTRIES.toLocaleString('en')} entries, over HTTP, ${ROUNDS} times each, 95th percentile in ms. Claim: less than ${MOST_MS} ms.`,
    columns: ['searched for', ...measured.map(({ store }) => store)],
    rows: names.map((name) => [name, ...measured.map((one) => p95(one, name))]),
    findings: measured.flatMap((one) => [
      heldAtMost(`Slowest on ${one.store}`, Math.max(...names.map((name) => p95(one, name))), MOST_MS, ' ms'),
      `Adding an entry to the index took ${one.perEntry.toFixed(0)} µs on ${one.store}, pauses included.`,
    ]),
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewaySearch()));
