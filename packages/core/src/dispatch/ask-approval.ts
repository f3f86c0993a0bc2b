import type { Policy } from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { CallContext } from './call-context.ts';
import type { CallRun } from './call-run.ts';
import { approvedBy, denied } from './check-policies.ts';
import { parseInput } from './parse-input.ts';
import { provisionalText } from './provisional-text.ts';
import type { Stage } from './refusal.ts';
import { sameJson } from './same-json.ts';

/** Continues with the input that may run: unchanged, or as the approver edited it. */
export async function askApproval(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  { ctx, policies }: { readonly ctx: CallContext; readonly policies: readonly Policy[] },
): Promise<Stage<unknown>> {
  const { answer, shown } = run;
  // It was allowed to run before it asked, with the same arguments.
  if (run.isResumed === true) return await withInput(run, tool, { read: input, shown });
  // An answer with a result replaces the tool's run, so nothing runs that would need approval.
  if (answer !== undefined && ('result' in answer || 'error' in answer)) return { go: input };
  if (answer !== undefined && 'deny' in answer) return { end: denied(run.toolName, answer.deny) };
  if (answer !== undefined && 'approve' in answer && answer.approve === true) {
    return await withInput(run, tool, { read: input, shown: answer.input ?? shown });
  }
  const needed = await isNeeded(tool, input, ctx);
  if (typeof needed === 'string') return { end: denied(run.toolName, needed) };
  const { callId, toolName } = run;
  return needed && !(await approvedBy(policies, { callId, toolName, input }, ctx))
    ? { end: { status: 'pending', kind: 'approval', text: provisionalText(run, 'approval') } }
    : { go: input };
}

/**
 * Parsing the model's arguments again may give another value than the last time: because of a repair, or a default that
 * is the current time.
 */
async function withInput(
  run: CallRun,
  tool: ResolvedTool,
  { read, shown }: { readonly read: unknown; readonly shown: unknown },
): Promise<Stage<unknown>> {
  return shown === undefined || sameJson(shown, read) ? { go: read } : await parseInput(run, tool, shown);
}

/**
 * Whether a person must allow the call, or why it is denied. If the check throws, the call is denied: it fails closed.
 */
async function isNeeded(tool: ResolvedTool, input: unknown, ctx: CallContext): Promise<boolean | string> {
  if (typeof tool.approval === 'boolean') return tool.approval;
  try {
    const answer = await tool.approval(input as never, ctx as never);
    // For our own tools anything but `false` asks for approval; in the AI SDK any falsy value means no.
    return tool.origin === 'lastcall' ? answer !== false : Boolean(answer);
  } catch (error) {
    return `its approval check failed: ${errorText(error)}`;
  }
}
