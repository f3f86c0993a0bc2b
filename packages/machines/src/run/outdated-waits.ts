import type { CompiledCharter } from '../charter/charter.ts';
import { chainOf, type Wait } from '../tree/tree.ts';
import { definedTool } from './leaf-tools.ts';
import type { Plan } from './plan.ts';

/**
 * Cancels the calls of an instance that has moved on and that still have to run, if its node has no such tool, or another
 * one of the same name: an approval is for the tool that asked for it.
 */
export function cancelOutdatedWaits(plan: Plan, charter: CompiledCharter, id: string, before: string): void {
  const [now, ...ancestors] = chainOf(plan.tree, id);
  if (now === undefined || now.waits.length === 0) return;
  const above = ancestors.map(({ node }) => node);
  const toolIn = (node: string, { toolName }: Wait): unknown =>
    definedTool(charter, [node, ...above], { worker: now.worker, toolName });
  // A call that waits for its result does not run again.
  const outdated = now.waits.filter(
    (wait) => wait.kind !== 'result' && toolIn(before, wait) !== toolIn(now.node, wait),
  );
  const reason = `"${before}" (${id}) moved on to "${now.node}"`;
  if (outdated.length > 0) plan.cancel({ instanceId: id, node: before }, outdated, reason);
}
