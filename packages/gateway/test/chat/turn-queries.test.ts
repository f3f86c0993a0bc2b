import { CompiledQuery, createQueryId, type Kysely, type RootOperationNode } from 'kysely';
import { expect, test } from 'vitest';
import { createConversation } from '../../src/domain/conversations/conversation.ts';
import { listTurns } from '../../src/domain/conversations/list-turns.ts';
import { runsOfLatestTurn, runsOfTurn } from '../../src/domain/conversations/turn-runs.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { findNext } from '../../src/runtime/chat/follow-turn.ts';
import { insertRun } from '../runs/rows.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

/** How many runs the conversation has. Two runs in a row are a turn. */
const RUNS = 400;

describeIdleWorld('queries of the turns of a long conversation', ({ world, kind }) => {
  const conversation = async (): Promise<{ contextId: string; at: (run: number) => string }> => {
    const agentId = await world.agent();
    return await world.in(async (tx) => {
      const { id: contextId } = await createConversation(tx, { agentId });
      const at = (run: number): string => `${contextId}-${run}`;
      const runs = Array.from({ length: RUNS }, (_, index) => index + 1);
      for (const run of runs)
        await insertRun(tx, {
          id: at(run),
          turn_id: at(run - ((run + 1) % 2)),
          thread_id: contextId,
          number: run,
          status: 'completed',
        });
      const events = runs.map((run) => ({
        thread_id: contextId,
        event_id: `${run}`,
        type: run % 2 === 0 ? ('tool_result' as const) : ('chat' as const),
        priority: 0,
        payload: '{"type":"service"}',
        status: 'done' as const,
        attempts: 1,
        available_at: 1,
        run_id: at(run),
        created_at: 1,
      }));
      await tx.db.insertInto('inbox_events').values(events).execute();
      await tx.db.executeQuery(CompiledQuery.raw('analyze'));
      return { contextId, at };
    });
  };

  /** The query plans of all queries that read runs, with their subqueries first. */
  async function plansOf(read: (db: Kysely<Tables>) => Promise<unknown>): Promise<readonly string[]> {
    return await world.in(async ({ db }) => {
      // The table has few runs, so PostgreSQL would read all of them.
      if (kind === 'postgres') await db.executeQuery(CompiledQuery.raw('set local enable_seqscan = off'));
      const nodes: RootOperationNode[] = [];
      await read(
        db.withPlugin({
          transformQuery({ node }) {
            nodes.push(node);
            return node;
          },
          transformResult: async ({ result }) => result,
        }),
      );
      const plans: string[] = [];
      for (const node of nodes) {
        const { sql, parameters } = db.getExecutor().compileQuery(node, createQueryId());
        if (!sql.includes('from "runs"')) continue;
        const explain = kind === 'sqlite' ? 'explain query plan' : 'explain';
        const { rows } = await db.executeQuery<object>(CompiledQuery.raw(`${explain} ${sql}`, [...parameters]));
        plans.push(rows.map((row) => ('detail' in row ? row.detail : Object.values(row)[0])).join('\n'));
      }
      return plans;
    });
  }

  const range = kind === 'sqlite' ? /runs_by_thread \(thread_id=\? AND number>\?/ : /thread_id = .* AND \(number >=? /;

  test('the newest turns are read by ranges of run numbers, without reading all runs of the conversation', async () => {
    const { contextId, at } = await conversation();
    const turns = await listTurns(world.store.db, contextId, { limit: 2, before: at(RUNS - 1) });
    expect(turns.map((turn) => turn.runIds)).toEqual([
      [at(RUNS - 5), at(RUNS - 4)],
      [at(RUNS - 3), at(RUNS - 2)],
    ]);
    const [, ...ofTurns] = await plansOf((db) => listTurns(db, contextId, { limit: 2 }));
    expect(ofTurns).toHaveLength(2);
    for (const plan of ofTurns) expect(plan).toMatch(range);
    // For all turns but the last the next turn is known, so the range has an end.
    const bounded = kind === 'sqlite' ? /number>\? AND number<\?/ : /number >= .*number < /;
    expect(ofTurns[0]).toMatch(bounded);
  });

  test('the runs of a turn are read from its first run on', async () => {
    const { contextId, at } = await conversation();
    expect(await runsOfLatestTurn(world.store.db, contextId)).toEqual([at(RUNS - 1), at(RUNS)]);
    expect(await runsOfTurn(world.store.db, contextId, at(RUNS - 2))).toEqual([at(RUNS - 3), at(RUNS - 2)]);
    expect(await runsOfTurn(world.store.db, contextId, 'unknown')).toEqual(['unknown']);
    for (const read of [runsOfLatestTurn, (db: Kysely<Tables>) => runsOfTurn(db, contextId, at(RUNS - 2))]) {
      const plans = await plansOf((db) => read(db, contextId));
      expect(plans.at(-1)).toMatch(range);
    }
  });

  test('the run that continues a turn is found among the runs after it', async () => {
    const { at } = await conversation();
    const suspended = at(RUNS - 3);
    expect(await findNext(world.store.db, suspended)).toEqual({ next: at(RUNS - 2) });
    expect(await findNext(world.store.db, at(RUNS))).toEqual({ next: null });
    expect(await findNext(world.store.db, 'deleted')).toBeUndefined();
    const [plan = ''] = await plansOf((db) => findNext(db, suspended));
    expect(plan).toMatch(range);
    expect(plan).toContain('inbox_by_run');
    expect(plan).not.toMatch(/\bscan (runs|inbox_events)\b/i);
  });

  test('a run that was not saved is not part of the turn whose call it answered', async () => {
    const agentId = await world.agent();
    const { contextId, runIds } = await world.in(async (tx) => {
      const { id: thread_id } = await createConversation(tx, { agentId });
      const first = await insertRun(tx, { thread_id, status: 'completed' });
      const more = { thread_id, turn_id: first, status: 'completed' as const };
      await insertRun(tx, { ...more, number: 2, answer: '{}' });
      return { contextId: thread_id, runIds: [first, await insertRun(tx, { ...more, number: 3 })] };
    });
    expect((await listTurns(world.store.db, contextId, { limit: 5 })).map((turn) => turn.runIds)).toEqual([runIds]);
    expect(await runsOfLatestTurn(world.store.db, contextId)).toEqual(runIds);
  });
});
