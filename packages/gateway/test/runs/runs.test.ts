import { expect, test } from 'vitest';
import { newId } from '../../src/domain/new-id.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { getRun, listRuns } from '../../src/domain/runs/run.ts';
import { runTranscript } from '../../src/domain/runs/run-transcript.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { insertEntry, insertPendingCall, insertRun } from './rows.ts';

describeIdleWorld('runs', ({ world }) => {
  const cancel = (runId: string) => world.in((tx) => requestCancel(tx, runId));

  test('a run is shown with its agent, its trigger and its end', async () => {
    const bot = await world.agent();
    const id = await world.in((tx) =>
      insertRun(tx, {
        thread_id: bot,
        number: 3,
        status: 'completed',
        trigger: '[{"eventId":"message:1","type":"space_message"}]',
        stop: '{"reason":"end_turn"}',
        usage: '{"tokens":7}',
        config_version: 2,
        ended_at: 5,
      }),
    );
    expect(await getRun(world.store.db, id)).toEqual({
      id,
      agentId: bot,
      threadId: bot,
      number: 3,
      status: 'completed',
      trigger: [{ eventId: 'message:1', type: 'space_message' }],
      stop: { reason: 'end_turn' },
      usage: { tokens: 7 },
      configVersion: 2,
      attempt: 1,
      createdAt: 1,
      endedAt: 5,
    });
  });

  test('runs are listed newest first, in pages, by agent and status', async () => {
    const [bot, other] = [await world.agent(), await world.agent()];
    const ids: string[] = [];
    for (let number = 1; number <= 5; number++) {
      const status = number === 5 ? 'running' : 'completed';
      // Ids by time, so that ids within a millisecond do not decide the order.
      const id = `00000000-0000-7000-8000-00000000000${number}-${bot}`;
      ids.unshift(await world.in((tx) => insertRun(tx, { id, thread_id: bot, number, status })));
    }
    await world.in((tx) => insertRun(tx, { thread_id: other }));
    const seen: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await listRuns(world.store.db, { agentId: bot, limit: 2, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    }
    expect(seen).toEqual(ids);
    const running = await listRuns(world.store.db, { agentId: bot, status: 'running' });
    expect(running.items.map(({ id }) => id)).toEqual([ids[0]]);
    expect((await listRuns(world.store.db, { agentId: 'a\u0000b' })).items).toEqual([]);
  });

  test('a question that a tool asked during its call does not count as a call of the tool', async () => {
    const bot = await world.agent();
    const [runId, asked] = [newId(), newId()];
    await world.in(async (tx) => {
      await insertRun(tx, { id: runId, thread_id: bot });
      const question = { agent_id: bot, run_id: asked, tool_name: 'order', wait_kind: 'input' as const };
      await insertRun(tx, { id: asked, thread_id: bot, number: 2 });
      await insertPendingCall(tx, { id: newId(), ...question, during_call: 'call' });
      await insertPendingCall(tx, { id: newId(), agent_id: bot, run_id: runId, tool_name: 'order' });
    });
    const { items } = await listRuns(world.store.db, { agentId: bot, toolName: 'order' });
    expect(items.map(({ id }) => id)).toEqual([runId]);
  });

  test('a transcript holds the entries of its run, in order, in pages, without what is staged', async () => {
    const bot = await world.agent();
    const [one, two] = await world.in(async (tx) => [
      await insertRun(tx, { thread_id: bot, number: 1 }),
      await insertRun(tx, { thread_id: bot, number: 2 }),
    ]);
    await world.in(async (tx) => {
      const own = { thread_id: bot, run_id: one, kind: 'turn' };
      for (const seq of [2, 1, 3])
        await insertEntry(tx, {
          ...own,
          seq,
          payload: JSON.stringify({ entry: { type: 'turn', seq }, staged: 'secret' }),
        });
      await insertEntry(tx, { ...own, seq: 4, run_id: two, kind: 'compaction', payload: '{"summary":"so far"}' });
    });
    const first = await runTranscript(world.store.db, one, { limit: 2 });
    expect(first).toEqual({
      items: [1, 2].map((seq) => ({ seq, kind: 'turn', at: 1, entry: { type: 'turn', seq } })),
      next: '2',
    });
    const rest = await runTranscript(world.store.db, one, { limit: 2, cursor: first.next });
    expect(rest.items.map(({ seq }) => seq)).toEqual([3]);
    expect(rest.next).toBeUndefined();
    expect((await runTranscript(world.store.db, two)).items).toMatchObject([{ entry: { summary: 'so far' } }]);
    await expect(runTranscript(world.store.db, 'none')).rejects.toMatchObject({ code: 'not_found' });
    await expect(runTranscript(world.store.db, one, { cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { path: 'cursor' },
    });
  });

  test('[G16] a run is asked to end once, and its followers get an event', async () => {
    const bot = await world.agent();
    const id = await world.in((tx) => insertRun(tx, { thread_id: bot }));
    const asked = await Promise.all([cancel(id), cancel(id), cancel(id)]);
    for (const run of asked)
      expect(run).toMatchObject({ id, status: 'running', cancelRequestedAt: expect.any(Number) });
    expect(world.told.filter(({ stream }) => stream === `run:${id}`)).toMatchObject([
      { type: 'run.cancelling', payload: { runId: id } },
    ]);
  });

  test.each(['completed', 'failed', 'cancelled'] as const)(
    '[G16] a run that is %s cannot be cancelled',
    async (status) => {
      const bot = await world.agent();
      const id = await world.in((tx) => insertRun(tx, { thread_id: bot, status }));
      await expect(cancel(id)).rejects.toMatchObject({ code: 'run_ended', details: { status } });
      expect(await getRun(world.store.db, id)).not.toHaveProperty('cancelRequestedAt');
    },
  );

  test.each(['none', '', 'a\u0000b'])('there is no run %j', async (id) => {
    await expect(getRun(world.store.db, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(cancel(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
