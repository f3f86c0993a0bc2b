import { errorText } from '../results/describe-error.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { CallContext } from './call-context.ts';
import type { CallRun } from './call-run.ts';
import { denied } from './check-policies.ts';
import { parseInput } from './parse-input.ts';
import { provisionalText } from './provisional-text.ts';
import type { Stage } from './refusal.ts';
import { sameJson } from './same-json.ts';

/** Goes on with the input that may run: as it is, or as whoever approved it edited it. */
export async function askApproval(
  run: CallRun,
  tool: ResolvedTool,
  input: unknown,
  ctx: CallContext,
): Promise<Stage<unknown>> {
  const { answer, shown } = run;
  // It was allowed to run before it asked, with the arguments that it asked about.
  if (run.isResumed === true) return await withInput(run, tool, { read: input, shown });
  // An answer with a result takes the tool's place, so nothing runs that would need approval.
  if (answer !== undefined && ('result' in answer || 'error' in answer)) return { go: input };
  if (answer !== undefined && 'deny' in answer) return { end: denied(run.toolName, answer.deny) };
  if (answer !== undefined && 'approve' in answer && answer.approve === true) {
    return await withInput(run, tool, { read: input, shown: answer.input ?? shown });
  }
  const needed = await isNeeded(tool, input, ctx);
  if (typeof needed === 'string') return { end: denied(run.toolName, needed) };
  return needed
    ? { end: { status: 'pending', kind: 'approval', text: provisionalText(run, 'waiting for approval') } }
    : { go: input };
}

/** Reading what the model wrote may give something else than the last time: a repair, a default that is the time. */
async function withInput(
  run: CallRun,
  tool: ResolvedTool,
  { read, shown }: { readonly read: unknown; readonly shown: unknown },
): Promise<Stage<unknown>> {
  return shown === undefined || sameJson(shown, read) ? { go: read } : await parseInput(run, tool, shown);
}

/** Whether somebody must allow the call, or why it is denied. A question that throws denies: it fails closed. */
async function isNeeded(tool: ResolvedTool, input: unknown, ctx: CallContext): Promise<boolean | string> {
  if (typeof tool.approval === 'boolean') return tool.approval;
  try {
    const answer = await tool.approval(input as never, ctx as never);
    // For our own tools anything but `false` asks for approval; the AI SDK takes any falsy value for a no.
    return tool.origin === 'lastcall' ? answer !== false : Boolean(answer);
  } catch (error) {
    return `whether it needs approval could not be told: ${errorText(error)}`;
  }
}
