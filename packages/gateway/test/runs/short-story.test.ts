import { describe, expect, test } from 'vitest';
import { newId } from '../../src/domain/new-id.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { insertPendingCall, insertRun } from './rows.ts';

describe.each(databases)('the story of a run on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  test('[S22] a run that consumed no event and made no call is a separate story', async () => {
    const run = await api.run(await api.agent());
    expect(await api.done('GET', `/api/runs/${run}/story`)).toMatchObject({ id: run, runs: [{ id: run }], waits: [] });
  });

  test('[S22] a task of many runs has the status of the whole, and the requested run, for each of its runs', async () => {
    const agent = await api.agent();
    const runs = Array.from({ length: 60 }, () => newId());
    await api.store.transaction((tx) => insertTask(tx, agent, runs));
    for (const at of [0, 59]) {
      const story = await api.done<Told>('GET', `/api/runs/${runs[at]}/story`);
      expect(story).toMatchObject({ id: runs[0], status: 'failed', startedAt: 1, endedAt: 60, truncated: true });
      const shown = story.runs.map(({ id }) => id);
      expect(shown).toHaveLength(50);
      expect(shown[0]).toBe(runs[0]);
      expect(shown).toContain(runs[at]);
      expect(shown.toSorted()).toEqual(shown);
    }
  });
});

interface Told {
  readonly runs: readonly { readonly id: string }[];
}

/** Each run requests approval and ends. The next one consumes the answer. The last one has failed. */
async function insertTask(tx: Tx, agent: string, runs: readonly string[]): Promise<void> {
  for (const [index, id] of runs.entries()) {
    const before = runs[index - 1];
    const eventId = `tool_result:call of ${before}`;
    const isLast = index === runs.length - 1;
    const time = { created_at: index + 1, ended_at: index + 1, number: index + 1 };
    const trigger = JSON.stringify(before === undefined ? [] : [{ type: 'tool_result', eventId }]);
    await insertRun(tx, { id, thread_id: agent, trigger, status: isLast ? 'failed' : 'completed', ...time });
    if (before !== undefined)
      await tx.db
        .insertInto('inbox_events')
        .values({
          ...{ thread_id: agent, event_id: eventId, type: 'tool_result', priority: 0, payload: '{}', status: 'done' },
          ...{ attempts: 1, available_at: index, run_id: id, error: null, created_at: index },
        })
        .execute();
    if (!isLast)
      await insertPendingCall(tx, {
        ...{ id: `call of ${id}`, agent_id: agent, run_id: id, status: 'settled', wait_status: 'resolved' },
        ...{ outcome_status: 'ok', answered_at: index + 1 },
      });
  }
}
