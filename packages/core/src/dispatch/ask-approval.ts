import type { Policy } from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import { cloneJson } from '../schema/clone-json.ts';
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
  if (run.isResumed === true) return { go: await sameInput(run, tool, { read: input, shown }) };
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

/** The model's arguments as they are read now, and as they were when the call began to wait. */
interface Inputs {
  readonly read: unknown;
  readonly shown: unknown;
}

/**
 * Parsing the model's arguments again may give another value than the last time: because of a repair, or a default that
 * is the current time.
 */
async function withInput(run: CallRun, tool: ResolvedTool, { read, shown }: Inputs): Promise<Stage<unknown>> {
  if (shown === undefined || sameJson(shown, read)) return { go: read };
  const parsed = await parseInput(run, tool, shown);
  return 'go' in parsed ? { go: parsed.go.input } : parsed;
}

/** What the tool got when it asked. The schema is applied to it only to restore what JSON cannot hold, such as dates. */
async function sameInput(run: CallRun, tool: ResolvedTool, inputs: Inputs): Promise<unknown> {
  const again = await withInput(run, tool, inputs);
  const isSame = 'go' in again && (inputs.shown === undefined || sameJson(again.go, inputs.shown));
  return isSame ? again.go : cloneJson(inputs.shown);
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
