import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { resolveGatewayLimits } from '../../src/config/agent-limits.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { insertArtifact } from '../../src/domain/artifacts/artifact.ts';
import { addCase, deleteCase, listCases } from '../../src/domain/evaluations/cases.ts';
import { openEvaluation } from '../../src/domain/evaluations/evaluation.ts';
import { listResults } from '../../src/domain/evaluations/results.ts';
import { storeReport } from '../../src/domain/evaluations/store-report.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { newId } from '../../src/domain/new-id.ts';
import { sweepArtifacts } from '../../src/domain/retention/sweep-artifacts.ts';
import { sweepMessages } from '../../src/domain/retention/sweep-messages.ts';
import { sweepRuns } from '../../src/domain/retention/sweep-runs.ts';
import { sweepRequestTexts } from '../../src/domain/runs/sweep-request-texts.ts';
import { sweepStreams } from '../../src/domain/streams/sweep-streams.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

const DAY_MS = 86_400_000;

describe('retention in the configuration', () => {
  const limitsOf = (retention: object) => {
    const config = checkConfig({ retention });
    return resolveGatewayLimits(config.limits, 10_000, config.retention);
  };

  test('[O4] messages, runs, requests, artifacts and stream events each have their days', () => {
    const days = { messages: 30, runs: 60, requests: 10, artifacts: 5, streamEvents: 0.5 };
    expect(limitsOf({ ...days, conversations: 20, briefConversations: 2, audit: 90 })).toMatchObject({
      ...{ messageDays: 30, runDays: 60, requestDays: 10, artifactDays: 5, streamWindowMs: DAY_MS / 2 },
      ...{ contextDays: 20, briefContextDays: 2, auditDays: 90 },
    });
    const forGood = Number.POSITIVE_INFINITY;
    expect(limitsOf({})).toMatchObject({
      ...{ messageDays: forGood, runDays: forGood, requestDays: 365, artifactDays: forGood },
      ...{ streamWindowMs: 3_600_000, contextDays: 365, briefContextDays: 7, auditDays: 365 },
    });
  });

  test('[O4] there is one way to set them: the errors for the old limits say where they are now', () => {
    expect(() => checkConfig({ limits: { auditDays: 30 } })).toThrow(/limits\.auditDays.*retention\.audit/);
    expect(() => checkConfig({ limits: { streamWindowMs: 1 } })).toThrow(/retention\.streamEvents/);
    expect(() => checkConfig({ retention: { messages: 0 } })).toThrow(/at least one minute/);
    expect(() => checkConfig({ retention: { message: 3 } })).toThrow(/message/);
  });
});

const limits = { messageDays: 30, runDays: 30, artifactDays: 30, requestDays: 30 };

describeIdleWorld({ title: 'retention', limits }, ({ world }) => {
  const count = async (table: string, where = sql`1 = 1`): Promise<number> => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${where}`.execute(
      world.store.db,
    );
    return Number(rows[0]?.n);
  };
  const later = (days: number): { now: number } => ({ now: Date.now() + days * DAY_MS });

  test('[O4] messages are deleted when they are older than their days, in pieces of a limited size', async () => {
    const [ann, space] = [await world.person(), await world.space()];
    const old = sql`space_id = ${space}`;
    await insertMessages(world.store, { space, entity: ann, count: 12_345 });
    expect(await sweepMessages(world.services, later(29))).toBe(0);
    expect(await count('messages', old)).toBe(12_345);
    const pieces: number[] = [];
    const store: Store = new Proxy(world.store, {
      get(target, key) {
        if (key !== 'transaction') return Reflect.get(target, key, target);
        return async (work: Parameters<Store['transaction']>[0]) => {
          const deleted = await target.transaction(work);
          pieces.push(Number(deleted));
          return deleted;
        };
      },
    });
    // One sweep deletes a part, and later ones the rest.
    expect(await sweepMessages({ ...world.services, store }, later(31))).toBe(10_000);
    expect(pieces).toHaveLength(20);
    expect(Math.max(...pieces)).toBe(500);
    await sweepMessages(world.services, later(31));
    expect(await count('messages', old)).toBe(0);
  });

  test('[O4] runs are deleted with their calls and transcripts once they are compacted, and the events keep their ids', async () => {
    const agent = await world.agent('Old');
    const push = () =>
      world.in((tx) =>
        pushServiceEvent(tx, { agentId: agent, eventId: 'once', source: 's', name: 'n', data: 'a secret' }),
      );
    await push();
    const [first, second] = [newId(), newId()];
    await world.in(async (tx) => {
      for (const [number, id] of [first, second].entries())
        await insertRun(tx.db as never, { id, agent, number: number + 1 });
      await tx.db
        .updateTable('inbox_events')
        .set({ run_id: first, status: 'done' })
        .where('thread_id', '=', agent)
        .execute();
      await insertEntry(tx.db as never, {
        agent,
        run: first,
        seq: 1,
        kind: 'turn',
        payload: { entry: { kind: 'turn' } },
      });
    });
    const of = (run: string) => sql`run_id = ${run}`;
    expect(await sweepRuns(world.services, later(31))).toBe(0);
    await world.in((tx) =>
      insertEntry(tx.db as never, {
        agent,
        run: second,
        seq: 2,
        kind: 'compaction',
        payload: { summary: '', carried: [] },
      }),
    );
    // It looks again after an hour.
    expect(await sweepRuns(world.services, later(31.1))).toBe(1);
    expect(await count('transcript_entries', of(first))).toBe(0);
    expect(await count('runs', sql`thread_id = ${agent}`)).toBe(1);
    expect((await world.inbox(agent))[0]).toMatchObject({ eventId: 'once', event: { data: '[erased]' } });
    expect((await push()).duplicate).toBe(true);
  });

  test('[E6] [O4] a run that is a case is kept with the texts it had read, and texts of results are deleted with their runs', async () => {
    const agent = await world.agent('Evaluated');
    const [earlier, kept, newest] = [newId(), newId(), newId()];
    const evaluation = await world.in((tx) => openEvaluation(tx, 'kept', {}));
    const sample = { case: 'one', sample: 1, scores: { answer: { value: 1, reason: 'Good.' } }, ms: 1, runId: kept };
    await world.in(async (tx) => {
      const db = tx.db as never;
      for (const [at, id] of [earlier, kept, newest].entries()) {
        await insertRun(db, { id, agent, number: at + 1 });
        const kind = id === newest ? 'compaction' : 'turn';
        const payload = id === newest ? { summary: '', carried: [] } : { entry: { kind: 'turn' } };
        await insertEntry(db, { agent, run: id, seq: at + 1, kind, payload });
      }
      await addCase(tx, evaluation.id, { runId: kept, expected: 'Yes.' });
      await storeReport(tx, evaluation.id, { version: 'v1', samples: [sample] });
    });
    expect(await sweepRuns(world.services, later(32))).toBe(0);
    await world.in(async (tx) => {
      const [stored] = (await listCases(tx.db, evaluation.id, {})).items;
      await deleteCase(tx, evaluation.id, stored?.id ?? '');
    });
    expect(await sweepRuns(world.services, later(32.1))).toBe(2);
    const [result] = (await listResults(world.store.db, evaluation.id, {})).items;
    expect(result?.cells[0]?.samples).toEqual([{ sample: 1, scores: { answer: { value: 1 } }, ms: 1 }]);
  });

  test('[O4] artifacts are deleted with their bytes', async () => {
    const agentId = await world.agent('Painter');
    const deleted: string[] = [];
    const files = {
      write: async () => {},
      read: async () => undefined,
      remove: async (id: string) => void deleted.push(id),
    };
    const id = newId();
    const artifact = {
      id,
      project: 'default',
      agentId,
      runId: newId(),
      spaceId: null,
      mediaType: 'image/png' as const,
      bytes: 3,
    };
    await world.in((tx) => insertArtifact(tx, artifact));
    expect(await sweepArtifacts({ ...world.services, files }, later(29))).toBe(0);
    expect(await sweepArtifacts({ ...world.services, files }, later(31))).toBe(1);
    expect(deleted).toEqual([id]);
    expect(await count('artifacts')).toBe(0);
  });

  test('[O4] texts of requests and stream events are deleted after their days', async () => {
    await world.in(async (tx) => {
      await tx.db.insertInto('request_texts').values({ hash: 'h', text: '""', used_at: tx.now() }).execute();
      tx.emit({ stream: 'run:r', type: 'run.cancelling', payload: { runId: 'r' } });
    });
    await sweepRequestTexts(world.services, later(29));
    expect(await count('request_texts')).toBe(1);
    await sweepRequestTexts(world.services, later(33));
    expect(await count('request_texts')).toBe(0);
    await sweepStreams(world.services, later(1));
    expect(await count('stream_events')).toBe(0);
  });
});

async function insertMessages(
  store: Store,
  { space, entity, count }: { readonly space: string; readonly entity: string; readonly count: number },
): Promise<void> {
  const now = Date.now();
  for (let made = 0; made < count; made += 1_000)
    await store.transaction((tx) =>
      tx.db
        .insertInto('messages')
        .values(
          Array.from({ length: Math.min(1_000, count - made) }, (_, index) => ({
            ...{ id: newId(now), space_id: space, seq: made + index + 1, entity_id: entity, kind: 'text' as const },
            ...{ content: toJson('Hello.'), metadata: '{}', status: 'complete' as const },
            ...{ created_at: now, updated_at: now },
          })),
        )
        .execute(),
    );
}

type Db = Store['db'];

async function insertRun(db: Db, { id, agent, number }: { id: string; agent: string; number: number }): Promise<void> {
  await db
    .insertInto('runs')
    .values({
      ...{ id, thread_id: agent, turn_id: id, trigger: '[]', status: 'completed', number, epoch: 1, config_version: 1 },
      ...{ attempts: 0, taken_seq: 0, attempt: 1, created_at: Date.now(), ended_at: Date.now() },
    } as never)
    .execute();
}

async function insertEntry(
  db: Db,
  { agent, run, seq, kind, payload }: { agent: string; run: string; seq: number; kind: string; payload: object },
): Promise<void> {
  const row = { thread_id: agent, run_id: run, seq, kind, payload: toJson(payload), created_at: Date.now() };
  await db.insertInto('transcript_entries').values(row).execute();
}
