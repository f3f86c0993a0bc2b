import { expect, test } from 'vitest';
import { orderErasure } from '../../src/domain/erasure/erasure.ts';
import { ErasureTaken, noteProgress } from '../../src/domain/erasure/erasure-job.ts';
import { performErasures } from '../../src/domain/erasure/perform-erasures.ts';
import { runStream } from '../../src/domain/streams/stream-names.ts';
import { chatWith } from '../support/conversations.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('erasures', ({ world }) => {
  test('[O3] a caller whose request is erased before its run began is told that the run was cancelled', async () => {
    const chat = await chatWith(world);
    const { runId } = await chat.start({ message: 'Hi.' });
    await world.in((tx) => orderErasure(tx, { kind: 'conversation', subjectId: chat.contextId, project: 'default' }));
    await performErasures(world.services);
    const told = world.told.filter(({ stream }) => stream === runStream(runId));
    expect(told.map(({ type, payload }) => ({ type, payload }))).toEqual([
      { type: 'run.end', payload: { runId, status: 'cancelled', stop: { reason: 'aborted' } } },
    ]);
  });

  test('[O3] a gateway that was too slow leaves an erasure to the one that took it over', async () => {
    const chat = await chatWith(world);
    const ordered = { kind: 'conversation', subjectId: chat.contextId, project: 'default' } as const;
    const { id } = await world.in((tx) => orderErasure(tx, ordered));
    const rowOf = () =>
      world.store.db.selectFrom('erasures').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    await world.in((tx) => tx.db.updateTable('erasures').set({ owner: 'other' }).where('id', '=', id).execute());
    const erasure = await rowOf();
    const noting = (owner: string) =>
      world.in((tx) => noteProgress(tx, { ...world.services, erasure, owner }, { phase: 'threads' }));
    await expect(noting('slow')).rejects.toThrow(ErasureTaken);
    expect(await rowOf()).toMatchObject({ phase: 'collect' });
    await noting('other');
    expect(await rowOf()).toMatchObject({ phase: 'threads' });
    await performErasures(world.services);
  });
});
