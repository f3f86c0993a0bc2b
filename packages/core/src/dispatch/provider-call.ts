import type { Outcome } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { CallRun } from './call-run.ts';
import { errorOutcome } from './refusal.ts';

/**
 * The outcome of a call that the model's provider executed itself: it is recorded, not run. The tool may not be in the set, because the
 * provider found it on another server. Undefined for any other call.
 */
export function recordProviderCall(run: CallRun, tool: ResolvedTool | undefined): Outcome | undefined {
  const { provided } = run;
  if (provided === undefined) {
    if (tool?.origin !== 'provider' || tool.execute !== undefined) return undefined;
    return errorOutcome(
      'execution',
      `"${run.toolName}" is run by the model's provider, and the provider gave no result for this call.`,
    );
  }
  return providedOutcome(provided);
}

/** The provider's result for a call, as an outcome. */
export function providedOutcome({ result, isError }: NonNullable<CallRun['provided']>): Outcome {
  const text = renderValue(result);
  return isError ? errorOutcome('execution', text) : { status: 'ok', value: result, text };
}
