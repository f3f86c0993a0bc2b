import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../packages/gateway/src/domain/new-id.ts';
import { toJson } from '../../packages/gateway/src/ports/store/schema/json.ts';
import type { Tx } from '../../packages/gateway/src/ports/store/store.ts';
import { heldAtMost } from '../held.ts';
import { task } from '../overhead/contender.ts';
import { type Report, toMarkdown } from '../report.ts';
import { watch } from './client.ts';
import { type BenchDatabase, onEachStore } from './databases.ts';
import type { Room } from './filling.ts';
import { percentile } from './percentiles.ts';
import { type BenchGateway, startGateway } from './start-gateway.ts';
import { wakeTime } from './wake-time.ts';

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 100_000);
/** A run takes up to 50 events. */
const EVENTS_PER_RUN = 50;
const CONFIG = { model: 'instant', tools: [task.toolName] };

interface Measured {
  readonly store: string;
  readonly seconds: number;
  readonly replaced: number;
  /** The 95th percentile of wake times before the erasure. */
  readonly idle: number;
  readonly p50: number;
  readonly p95: number;
}

/** How long it takes to erase a person who wrote many messages, and how long other agents take to wake meanwhile. */
export async function benchGatewayErase(): Promise<Report> {
  return toReport(await onEachStore(measure));
}

async function measure(store: string, database: BenchDatabase): Promise<Measured> {
  const filling = await database.open();
  const [talker = '', other = ''] = await filling.agents(2, CONFIG);
  const [crowded, quiet] = [await filling.room(talker), await filling.room(other)];
  for (let made = 0; made < MESSAGES; made += CHUNK)
    await filling.store.transaction((tx) => insertMessages(tx, { room: crowded, agentId: talker, from: made }));
  await filling.store.transaction((tx) =>
    tx.db
      .updateTable('spaces')
      .set({ next_seq: MESSAGES + 1 })
      .where('id', '=', crowded.spaceId)
      .execute(),
  );
  await filling.close();
  const gateway = await startGateway({ settings: database.settings, tool: { terminal: true, visible: false } });
  try {
    return { store, ...(await eraseWhile(gateway, crowded, quiet)) };
  } finally {
    await gateway.stop();
  }
}

const CHUNK = 500;

/** Inserts messages with their events, and the runs that consumed them, each with a reply and a call. */
async function insertMessages(
  tx: Tx,
  { room, agentId, from }: { readonly room: Room; readonly agentId: string; readonly from: number },
): Promise<void> {
  const now = tx.now();
  const all = Array.from({ length: CHUNK }, (_, index) => {
    const seq = from + index + 1;
    return { id: newId(now), seq, text: `This is message ${seq}, about harbour ${seq * 7919} and the ships in it.` };
  });
  const runs = Array.from({ length: CHUNK / EVENTS_PER_RUN }, () => newId(now));
  const runOf = (index: number): string => runs[Math.floor(index / EVENTS_PER_RUN)] ?? '';
  await tx.db
    .insertInto('messages')
    .values(
      all.map(({ id, seq, text }) => ({
        ...{
          id,
          space_id: room.spaceId,
          seq,
          entity_id: room.personId,
          kind: 'text' as const,
          status: 'complete' as const,
        },
        ...{ content: toJson(text), metadata: '{}', created_at: now, updated_at: now },
      })),
    )
    .execute();
  await tx.db
    .insertInto('inbox_events')
    .values(
      all.map(({ id, seq, text }, index) => ({
        ...{
          thread_id: agentId,
          event_id: `message:${id}`,
          type: 'space_message' as const,
          priority: 0,
          status: 'done' as const,
        },
        ...{ attempts: 1, available_at: now, created_at: now, run_id: runOf(index), error: null },
        payload: toJson({
          ...{ type: 'space_message', messageId: id, seq, spaceId: room.spaceId, spaceName: 'Room', text },
          from: { entityId: room.personId, name: 'Ada', kind: 'human' },
        }),
      })),
    )
    .execute();
  for (const [index, id] of runs.entries())
    await insertRun(tx, { id, agentId, number: from / EVENTS_PER_RUN + index + 1 });
}

async function insertRun(
  tx: Tx,
  { id, agentId, number }: { readonly id: string; readonly agentId: string; readonly number: number },
): Promise<void> {
  const now = tx.now();
  await tx.db
    .insertInto('runs')
    .values({
      ...{
        id,
        thread_id: agentId,
        turn_id: id,
        trigger: '[]',
        status: 'completed',
        number,
        epoch: 0,
        config_version: 1,
      },
      ...{ attempts: 0, taken_seq: 0, attempt: 1, created_at: now, ended_at: now },
    } as never)
    .execute();
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const said = `You wrote about harbour ${number}.`;
  const entries = [
    { kind: 'turn' },
    { kind: 'message', message: { role: 'user', content: [{ type: 'text', text: said.repeat(20) }] } },
    {
      kind: 'reply',
      step: 1,
      content: [{ type: 'text', text: said }],
      calls: [],
      text: said,
      finishReason: 'stop',
      usage,
    },
    { kind: 'stop', stop: { reason: 'end_turn', by: 'text' } },
  ];
  await tx.db
    .insertInto('transcript_entries')
    .values(
      entries.map((entry, index) => ({
        ...{ thread_id: agentId, run_id: id, seq: (number - 1) * entries.length + index + 1, kind: entry.kind },
        ...{ payload: toJson({ entry }), created_at: now },
      })),
    )
    .execute();
}

async function eraseWhile(gateway: BenchGateway, crowded: Room, quiet: Room): Promise<Omit<Measured, 'store'>> {
  const watcher = await watch(gateway, quiet.spaceId);
  const call = async (path: string, method = 'GET'): Promise<Progress> => {
    const headers = { authorization: `Bearer ${gateway.secretKey}` };
    return (await (await fetch(`${gateway.url}${path}`, { method, headers })).json()) as Progress;
  };
  // The first wakes load code.
  for (let index = 0; index < 5; index++) await wakeTime(gateway, quiet, watcher);
  const idle: number[] = [];
  for (let index = 0; index < 50; index++) {
    idle.push(await wakeTime(gateway, quiet, watcher));
    await sleep(20);
  }
  const startedAt = performance.now();
  let erasure = await call(`/api/entities/${crowded.personId}`, 'DELETE');
  const wakes: number[] = [];
  while (erasure.status === 'running') {
    wakes.push(await wakeTime(gateway, quiet, watcher));
    await sleep(20);
    erasure = await call(`/api/erasures/${erasure.id}`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  watcher.close();
  return {
    seconds,
    replaced: erasure.replaced,
    idle: percentile(idle, 0.95),
    p50: percentile(wakes, 0.5),
    p95: percentile(wakes, 0.95),
  };
}

interface Progress {
  readonly id: string;
  readonly status: 'running' | 'done';
  readonly replaced: number;
}

function toReport(measured: readonly Measured[]): Report {
  return {
    title: 'Erasing a person',
    claim: `A person who wrote ${MESSAGES.toLocaleString('en')} messages to an agent is erased, while messages to another agent wake it, one after the other.`,
    columns: ['store', 'time, s', 'rows replaced', 'wake p95 before, ms', 'wake p50, ms', 'wake p95, ms'],
    rows: measured.map(({ store, seconds, replaced, idle, p50, p95 }) => [store, seconds, replaced, idle, p50, p95]),
    findings: measured.flatMap(({ store, seconds, p95 }) => [
      heldAtMost(`Time on ${store}`, seconds, 60, ' s'),
      heldAtMost(`Wakes of others on ${store}, 95th percentile`, p95, 100, ' ms'),
    ]),
  };
}

if (import.meta.main) console.log(toMarkdown(await benchGatewayErase()));
