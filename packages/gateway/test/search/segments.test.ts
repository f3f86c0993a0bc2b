import { describe, expect, test } from 'vitest';
import { addToIndex, findInIndex } from '../../src/ports/store/search/search-index.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

const ROUNDS = 4;

describe.each(databases)('segments on $kind', ({ kind, create }) => {
  const database = forAllTests(create);
  const store = forAllTests(() => database.open());

  test('[S27] an index of several segments is searched newest first, page by page, and nothing is found twice or missed', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const texts = [0, 1].map((index) => ({
        ...{ kind: 'message' as const, source_id: `m${round}${index}`, call_id: null, seq: null },
        ...{ at: 1_000 * round + index, words: ['harbour', `round${round}`], labels: ['=pone'] },
      }));
      await store.transaction((tx) => addToIndex(tx, texts));
      // As if the newest segment were full, so that the next text starts another one.
      const { value } = await store.db
        .selectFrom('search_state')
        .select('value')
        .where('key', '=', 'segments')
        .executeTakeFirstOrThrow();
      const full = JSON.stringify({ ...(JSON.parse(value) as object), size: 40_000 });
      await store.transaction((tx) =>
        tx.db.updateTable('search_state').set({ value: full }).where('key', '=', 'segments').execute(),
      );
      expect((JSON.parse(value) as { starts: unknown[] }).starts).toHaveLength(round + 1);
    }
    const all = Array.from({ length: ROUNDS }, (_, round) => [`m${round}0`, `m${round}1`]).flat();
    expect(await pages('harbour', 3)).toEqual(all.toReversed());
    expect(await pages('round0', 3)).toEqual(['m01', 'm00']);
    expect(await pages('nothing', 3)).toEqual([]);
  });

  /** A page may end early on a busy machine, so all of them are read. */
  async function pages(word: string, limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
      const terms = [{ words: [word], isPrefix: false }];
      const { entries, searchedTo } = await findInIndex(store.db, kind, { terms, labels: [['=pone']], before, limit });
      expect(entries.length).toBeLessThanOrEqual(limit);
      found.push(...entries.map(({ source_id }) => source_id));
      before = searchedTo;
    }
    return found;
  }
});
