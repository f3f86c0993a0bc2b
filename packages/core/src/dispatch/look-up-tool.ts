import { closestNames } from '../closest-names.ts';
import { isOffered } from '../tools/advertise.ts';
import { type ResolvedTool, resolveTool } from '../tools/resolved-tool.ts';
import { tool } from '../tools/tool.ts';
import { isEndedByAnswer } from './answered-call.ts';
import type { CallRun } from './call-run.ts';
import { errorOutcome, type Stage } from './refusal.ts';

/** The tool with that name, if it exists and its calls can be answered here. */
export function lookUpTool(run: CallRun): Stage<ResolvedTool> {
  const definition = Object.hasOwn(run.tools, run.toolName) ? run.tools[run.toolName] : undefined;
  if (definition === undefined)
    return isEndedByAnswer(run) ? { go: resolveTool('gone', GONE) } : { end: unknownTool(run) };
  const found = resolveTool(run.toolName, definition);
  return isOffered(found, run.pendingAnswered) ? { go: found } : { end: unknownTool(run) };
}

/** Takes the place of a tool that was removed, or is not offered now, when a call of it that waits is answered. */
const GONE = tool({ description: 'Was removed.', inputSchema: { type: 'object' } });

function unknownTool(run: CallRun): ReturnType<typeof errorOutcome> {
  const offered = Object.entries(run.tools)
    .filter(([name, definition]) => couldAnswer(name, definition, run))
    .map(([name]) => name);
  const close = closestNames(run.toolName, offered);
  const shown = run.toolName.length > 100 ? `${run.toolName.slice(0, 100)}…` : run.toolName;
  const hint = close.length > 0 ? `Closest: ${close.join(', ')}.` : available(offered);
  return errorOutcome('unknown_tool', `${whyUnknown(run, shown)} ${hint}`);
}

/** The tool of a call that was answered existed when it began to wait: it was removed or hidden since. */
function whyUnknown({ answer, isResumed }: CallRun, name: string): string {
  if (isResumed === true)
    return `"${name}" got the answer that it had asked for, but it is not available now and did not continue.`;
  if (answer !== undefined && 'approve' in answer)
    return `"${name}" was approved, but it is not available now and did not run.`;
  return `There is no tool "${name}".`;
}

function available(names: readonly string[]): string {
  if (names.length === 0) return 'No tools are available now.';
  const rest = names.length > 20 ? `, and ${names.length - 20} more` : '';
  return `Available: ${names.slice(0, 20).join(', ')}${rest}.`;
}

/** A broken definition elsewhere in the set is no reason to refuse this call. */
function couldAnswer(name: string, definition: CallRun['tools'][string], run: CallRun): boolean {
  try {
    return isOffered(resolveTool(name, definition), run.pendingAnswered);
  } catch {
    return false;
  }
}
