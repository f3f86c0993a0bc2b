import { expect, test } from 'vitest';
import { deleteConversation } from '../../src/domain/conversations/delete-conversation.ts';
import { addCase, listCases } from '../../src/domain/evaluations/cases.ts';
import { deleteEvaluation, openEvaluation } from '../../src/domain/evaluations/evaluation.ts';
import { storeReport } from '../../src/domain/evaluations/store-report.ts';
import { newId } from '../../src/domain/new-id.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import { insertRun } from '../runs/rows.ts';
import { overlap } from '../spaces/overlap.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('evaluations that change at the same moment', ({ world, beside }) => {
  const other = beside();

  const newEvaluation = async (): Promise<string> => (await world.in((tx) => openEvaluation(tx, newId(), {}))).id;
  const newRun = async (): Promise<{ readonly runId: string; readonly threadId: string }> => {
    const threadId = await world.agent();
    return { threadId, runId: await world.in((tx) => insertRun(tx, { thread_id: threadId, status: 'completed' })) };
  };
  /** Does the work in a transaction that stays open until the other one waits for it. */
  const held =
    <T>(work: (tx: Tx) => Promise<T>) =>
    (hold: () => Promise<void>) =>
      world.in(async (tx) => {
        const done = await work(tx);
        await hold();
        return done;
      });
  const rowsOf = async (table: 'evaluation_cases' | 'evaluation_reports', id: string) =>
    await world.store.db.selectFrom(table).select('id').where('evaluation_id', '=', id).execute();

  test('[E6] results and cases that are added while their evaluation is deleted are deleted with it', async () => {
    const { runId } = await newRun();
    const sample = { case: 'one', sample: 1, scores: { answer: { value: 1 } }, ms: 1 };
    for (const add of [
      (tx: Tx, id: string) => storeReport(tx, id, { version: 'v1', samples: [sample] }),
      (tx: Tx, id: string) => addCase(tx, id, { runId, expected: 'Yes.' }),
    ]) {
      const id = await newEvaluation();
      const [, deleted] = await overlap(
        other.store,
        held<unknown>((tx) => add(tx, id)),
        () => other.in((tx) => deleteEvaluation(tx, id)),
      );
      expect(deleted).toMatchObject({ status: 'fulfilled' });
      expect([...(await rowsOf('evaluation_cases', id)), ...(await rowsOf('evaluation_reports', id))]).toEqual([]);
    }
    const samples = world.store.db.selectFrom('evaluation_samples').select('report_id');
    expect(await samples.execute()).toEqual([]);
  });

  test('[E6] two cases with one name that are added at the same time get two names, and one run is one case', async () => {
    const [id, one, two] = [await newEvaluation(), await newRun(), await newRun()];
    const add = (runId: string) => (tx: Tx) => addCase(tx, id, { runId, name: 'case', expected: 'Yes.' });
    await overlap(other.store, held(add(one.runId)), () => other.in(add(two.runId)));
    const { items } = await listCases(world.store.db, id, {});
    expect(items.map(({ name }) => name)).toEqual(['case', 'case (2)']);
    const three = await newRun();
    const [stored, again] = await overlap(other.store, held(add(three.runId)), () => other.in(add(three.runId)));
    expect(again).toMatchObject({ value: { id: stored.id, name: stored.name } });
  });

  test('[E6] [O2] a run that becomes a case while its conversation is deleted leaves no case', async () => {
    for (const isDeletedFirst of [false, true]) {
      const [id, { runId, threadId }] = [await newEvaluation(), await newRun()];
      const add = (tx: Tx) => addCase(tx, id, { runId, expected: 'Yes.' });
      const remove = (tx: Tx) => deleteConversation(tx, threadId);
      const [first, second] = isDeletedFirst ? [remove, add] : [add, remove];
      const [, settled] = await overlap(other.store, held<unknown>(first), () => other.in<unknown>(second));
      expect(settled.status).toBe(isDeletedFirst ? 'rejected' : 'fulfilled');
      expect(await rowsOf('evaluation_cases', id)).toEqual([]);
    }
  });
});
