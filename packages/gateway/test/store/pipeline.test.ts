import { expect, test } from 'vitest';
import { pipeline } from '../../src/ports/store/pipeline.ts';

const failing = (code: string): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }));

test('statements sent together return their results in order', async () => {
  expect(await pipeline(Promise.resolve(1), Promise.resolve('two'))).toEqual([1, 'two']);
});

test('a failure is reported after all have ended, and it is the first one, which made the others fail', async () => {
  const slow = Promise.withResolvers<void>();
  let isTold = false;
  const telling = pipeline(
    slow.promise.then(() => failing('25P02')),
    failing('40P01'),
  ).catch((error: unknown) => {
    isTold = true;
    return error;
  });
  await Promise.resolve().then(() => Promise.resolve());
  expect(isTold).toBe(false);
  slow.resolve();
  expect(await telling).toMatchObject({ code: '40P01' });
});
