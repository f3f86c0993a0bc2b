import { addRunUsage } from '../../domain/runs/nested-usage.ts';
import type { Services } from '../../ports/services.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { NestedUsage } from '../tools/sub-agent/nested-usage.ts';

/** Adds the usage of a sub-agent to its run. If that fails, the sub-agent's answer is still used. */
export async function addNestedUsage(
  { store, logger }: Services,
  { lease, runId }: ActiveRun,
  { inputTokens, outputTokens, totalTokens }: NestedUsage,
): Promise<void> {
  try {
    await fenced(store, lease, (tx) => addRunUsage(tx, runId, { inputTokens, outputTokens, totalTokens }));
  } catch (error) {
    logger.warn(`The usage of a sub-agent of run ${runId} was not counted: ${totalTokens} tokens.`, { error });
  }
}
