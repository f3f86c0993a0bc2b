import type { Logger } from '@lastcall/core';
import type { Wake } from './engine.ts';

/** Resolves also where the wake fails: the sweep finds the thread again. */
export async function deliverWake(
  wake: Wake,
  { threadId, isFirst }: { readonly threadId: string; readonly isFirst: boolean },
  logger: Logger | undefined,
): Promise<void> {
  try {
    await wake(threadId, { isFirst });
  } catch (error) {
    logger?.error(`Waking thread ${threadId} failed. The sweep will try again.`, error);
  }
}
