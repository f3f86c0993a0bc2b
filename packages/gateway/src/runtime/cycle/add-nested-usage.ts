import { addRunUsage } from '../../domain/runs/nested-usage.ts';
import type { Services } from '../../ports/services.ts';
import { fenced } from '../lease/lease.ts';
import type { NestedUsage } from '../tools/sub-agent/nested-usage.ts';
import type { Cycle } from './cycle.ts';

/** Adds what a sub-agent cost to its run. The answer of the sub-agent does not depend on it. */
export async function addNestedUsage(
  { store, logger }: Services,
  { lease, runId }: Cycle,
  { inputTokens, outputTokens, totalTokens }: NestedUsage,
): Promise<void> {
  try {
    await fenced(store, lease, (tx) => addRunUsage(tx, runId, { inputTokens, outputTokens, totalTokens }));
  } catch (error) {
    logger.warn(`What a sub-agent of run ${runId} cost was not counted: ${totalTokens} tokens.`, { error });
  }
}
