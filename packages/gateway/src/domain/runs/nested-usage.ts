import type { Usage } from '@lastcall/core';
import { sql } from 'kysely';
import type { Tx } from '../../ports/store/store.ts';

/** Adds to the usage of a run's sub-agents. Several may end at once. */
export async function addRunUsage(tx: Tx, runId: string, usage: Usage): Promise<void> {
  const { inputTokens, outputTokens, totalTokens, cachedTokens = 0, reasoningTokens = 0, estimated } = usage;
  const isEstimated = estimated === true ? 1 : 0;
  await tx.db
    .insertInto('nested_usage')
    .values({
      run_id: runId,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: totalTokens,
      cached_tokens: cachedTokens,
      reasoning_tokens: reasoningTokens,
      estimated: isEstimated,
    })
    .onConflict((conflict) =>
      conflict.column('run_id').doUpdateSet((eb) => ({
        input_tokens: eb('nested_usage.input_tokens', '+', inputTokens),
        output_tokens: eb('nested_usage.output_tokens', '+', outputTokens),
        total_tokens: eb('nested_usage.total_tokens', '+', totalTokens),
        cached_tokens: eb('nested_usage.cached_tokens', '+', cachedTokens),
        reasoning_tokens: eb('nested_usage.reasoning_tokens', '+', reasoningTokens),
        estimated: isEstimated === 1 ? sql<0 | 1>`1` : eb.ref('nested_usage.estimated'),
      })),
    )
    .execute();
}
