import { beforeAll, describe, expect, test } from 'vitest';
import { appendRows } from '../../src/runtime/journal/append-rows.ts';
import { claimThread, fenced, type Lease } from '../../src/runtime/lease/lease.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

const rowsOf = (...kinds: string[]) => kinds.map((kind) => ({ kind, payload: '{}' }));

describe.each(databases)('rows of a transcript on $kind', ({ create }) => {
  const database = forAllTests(create);
  const world = forAllTests(() => openWorld({ database, models: {} }));
  let lease: Lease;
  beforeAll(async () => {
    const threadId = await world.agent('Bot');
    const claimant = { owner: 'test', leaseMs: 60_000 };
    const claimed = await world.store.transaction((tx) => claimThread(tx, threadId, claimant, async () => {}));
    if (claimed === undefined) throw new Error('Nobody else holds it.');
    lease = claimed.held.lease;
  });

  const append = (seq: number, ...kinds: string[]): Promise<void> =>
    fenced(world.store, lease, async (tx, held) => {
      appendRows(held, { runId: 'run', seq }, rowsOf(...kinds));
      await tx.db
        .updateTable('agents')
        .set({ last_error: JSON.stringify(kinds) })
        .execute();
    });
  const stored = async (): Promise<unknown> => ({
    rows: await world.store.db.selectFrom('transcript_entries').select(['seq', 'kind']).orderBy('seq').execute(),
    effect: (await world.store.db.selectFrom('agents').select('last_error').executeTakeFirstOrThrow()).last_error,
  });

  test.each([
    ['a number that is taken', 2],
    ['a number that leaves a gap', 4],
  ])('[G38] [G40] %s is refused, with all other writes of its transaction', async (_what, seq) => {
    await world.store.transaction((tx) => tx.db.deleteFrom('transcript_entries').execute());
    await append(1, 'turn', 'message');
    const before = await stored();
    await expect(append(seq, 'reply')).rejects.toMatchObject({ code: 'stale_transcript' });
    expect(await stored()).toEqual(before);
    await append(3, 'reply', 'stop');
    expect(await stored()).toEqual({
      rows: ['turn', 'message', 'reply', 'stop'].map((kind, index) => ({ seq: index + 1, kind })),
      effect: '["reply","stop"]',
    });
  });
});
