import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { expect } from 'vitest';
import type { OpenWorld } from '../support/describe-worlds.ts';
import type { World } from '../support/world.ts';

/** The usage that a provider reports. */
export const usageOf = (input: number, output: number, cached?: number): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: undefined, cacheRead: cached, cacheWrite: undefined },
  outputTokens: { total: output, text: undefined, reasoning: undefined },
});

/** Opens worlds without usage of earlier worlds, whose agents are stopped: all tests of a file share a database. */
export function withoutUsage(open: OpenWorld): OpenWorld {
  return async (options) => {
    const world = await open(options);
    await world.in(async (tx) => {
      for (const table of ['usage', 'usage_requests', 'spend_reached'] as const)
        await tx.db.deleteFrom(table).execute();
      await tx.db.updateTable('agents').set({ status: 'paused' }).execute();
    });
    return world;
  };
}

/** Resolves when nothing runs and nothing is due. Events may wait for another day. */
export async function untilQuiet({ store, worker }: World): Promise<void> {
  const due = async (): Promise<number> => {
    const events = await store.db
      .selectFrom('inbox_events')
      .innerJoin('threads', 'threads.id', 'inbox_events.thread_id')
      .innerJoin('agents', 'agents.id', 'threads.agent_id')
      .select('inbox_events.id')
      .where('agents.status', '=', 'active')
      .where('inbox_events.status', 'in', ['pending', 'claimed'])
      .where((eb) => eb.or([eb('inbox_events.status', '=', 'claimed'), eb('available_at', '<=', Date.now() + 60_000)]))
      .execute();
    return events.length + worker.busy;
  };
  await expect.poll(due, { timeout: 8_000, interval: 10 }).toBe(0);
}
