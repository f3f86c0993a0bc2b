import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Posted, PostingOrder } from './poster-child.ts';

/** Posts everything from another process. Resolves when the last was answered. */
export async function postFromOutside(order: PostingOrder): Promise<Posted> {
  const child = fork(new URL('poster-child.ts', import.meta.url), { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The poster ended with ${code} before it had posted everything.`);
  });
  child.send(order);
  const [posted] = (await Promise.race([once(child, 'message'), ended])) as [Posted];
  ended.catch(() => {});
  child.disconnect();
  return posted;
}
