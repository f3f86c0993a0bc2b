import type { Policy } from '../policies/policy.ts';
import { renderValue } from '../results/render.ts';
import { type FailResult, isToolResult, type PendingResult, type ToolResult } from '../results/result.ts';
import type { Outcome } from '../results/outcome.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { CallRun } from './call-run.ts';
import { checkAfter } from './check-policies.ts';
import { readModelOutput } from './model-output.ts';
import { errorOutcome } from './refusal.ts';

interface Judged {
  readonly run: CallRun;
  readonly tool: ResolvedTool;
  readonly input: unknown;
  readonly policies: readonly Policy[];
  readonly draft: SessionLayer;
}

/** The outcome of what a tool returned: its output schema, the policies' last word, and the text for the model. */
export async function judgeResult(judged: Judged, returned: unknown): Promise<Outcome> {
  const result: ToolResult | undefined = isToolResult(returned) ? returned : undefined;
  switch (result?.status) {
    case 'error':
      return failed(judged.run.toolName, result);
    case 'pending':
      return waiting(judged, result);
    case 'reply':
      return (await judgeValue(judged, result)) ?? { status: 'ok', value: { ...result }, text: String(result.model), userText: String(result.user) };
    case 'ok':
      return success(judged, result.value, (text) => withMessage(result.message, text), result.excludeValueFromContext === true);
    default:
      return success(judged, returned, (text) => text, false);
  }
}

async function success(judged: Judged, returned: unknown, toText: (rendered: string) => string, hidden: boolean): Promise<Outcome> {
  const checked = judged.tool.output === undefined ? undefined : await judged.tool.output.validate(returned);
  if (checked?.ok === false) {
    const problems = checked.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
    return errorOutcome('execution', `"${judged.run.toolName}" returned what its output schema refuses: ${problems}`);
  }
  const value = checked === undefined ? returned : checked.value;
  return (await judgeValue(judged, value)) ?? (await toOk(judged, value, toText, hidden));
}

async function judgeValue({ run, input, policies, draft }: Judged, value: unknown): Promise<Outcome | undefined> {
  if (policies.length === 0) return undefined;
  const { callId, toolName, logger } = run;
  return await checkAfter(policies, { callId, toolName, input, value }, { session: draft, logger, record: (event) => draft.record(event) });
}

async function toOk(judged: Judged, value: unknown, toText: (rendered: string) => string, hidden: boolean): Promise<Outcome> {
  const { run, tool, input } = judged;
  if (hidden) return { status: 'ok', value, text: toText('') };
  if (tool.toModelOutput !== undefined) {
    const read = await readModelOutput(tool.toModelOutput, { toolCallId: run.callId, input, output: value });
    if (read !== undefined) return 'error' in read ? errorOutcome('execution', read.error) : { status: 'ok', value, ...read, text: toText(read.text) };
  }
  return { status: 'ok', value, text: toText(isEmpty(value) && tool.render === undefined ? emptyText(value) : renderValue(value, tool.render)) };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function emptyText(value: unknown): string {
  return value === null ? NULL_TEXT : '';
}

// A plain null is shown; beside a message it says nothing.
const NULL_TEXT = 'null';

function withMessage(message: unknown, rendered: string): string {
  const said = typeof message === 'string' ? message : renderValue(message);
  return rendered === '' || rendered === NULL_TEXT ? said : `${said}\n\n${rendered}`;
}

function failed(toolName: string, result: FailResult): Outcome {
  const message = typeof result.message === 'string' && result.message !== '' ? result.message : `"${toolName}" failed.`;
  const rendered = 'value' in result ? renderValue(result.value) : '';
  return errorOutcome(typeof result.code === 'string' ? result.code : 'execution', message, withMessage(message, rendered));
}

function waiting({ run, tool }: Judged, result: PendingResult): Outcome {
  if (tool.terminal) {
    return errorOutcome('execution', `"${run.toolName}" is terminal, and a terminal tool cannot be pending: nobody would read its answer.`);
  }
  const { expiresInMs, onExpiry, display } = result;
  return {
    status: 'pending',
    kind: 'result',
    ...(expiresInMs === undefined ? {} : { expiresAt: run.clock.now() + expiresInMs }),
    ...(onExpiry === undefined ? {} : { onExpiry }),
    ...(display === undefined ? {} : { display }),
    text: `"${run.toolName}" is pending (call ${run.callId}). Its result comes later.`,
  };
}
