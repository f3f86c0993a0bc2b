import type { Logger } from '@lastcall/core';
import type { Wake } from './engine.ts';

/** Resolves even if the wake fails: the sweep finds the thread again. */
export async function deliverWake(
  wake: Wake,
  { threadId, isUrgent }: { readonly threadId: string; readonly isUrgent: boolean },
  logger: Logger | undefined,
): Promise<void> {
  try {
    await wake(threadId, { isUrgent });
  } catch (error) {
    logger?.error(`Waking thread ${threadId} failed. The sweep will try again.`, error);
  }
}
