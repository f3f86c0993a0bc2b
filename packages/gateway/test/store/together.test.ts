import { expect, test } from 'vitest';
import { together } from '../../src/store/together.ts';

test('what is told of statements sent together is the first failure in time, once all have ended', async () => {
  const [early, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isOver = false;
  const sent = together(late.promise, early.promise, Promise.resolve(1)).finally(() => {
    isOver = true;
  });
  early.reject(new Error('deadlock'));
  await early.promise.catch(() => {});
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  late.reject(new Error('the transaction is aborted'));
  await expect(sent).rejects.toThrow('deadlock');
  await expect(together(Promise.resolve('a'), Promise.resolve(2))).resolves.toEqual(['a', 2]);
});
