import type { Policy } from '../policies/policy.ts';
import type { Outcome } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import {
  type FailResult,
  isToolResult,
  type OkResult,
  type PendingResult,
  type ReplyResult,
  type ToolResult,
} from '../results/result.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { CallRun } from './call-run.ts';
import { checkAfter } from './check-policies.ts';
import { refusedAfterRun } from './cut-off.ts';
import { readModelOutput } from './model-output.ts';
import { provisionalText } from './provisional-text.ts';
import { isRecordedEnd } from './recorded-end.ts';
import { errorOutcome } from './refusal.ts';

export interface Judged {
  readonly run: CallRun;
  readonly tool: ResolvedTool;
  readonly input: unknown;
  readonly policies: readonly Policy[];
  readonly draft: SessionLayer;
}

/** The outcome for what a tool returned: its output schema, the policies' final check, and the text for the model. */
export function judgeResult(judged: Judged, returned: unknown): Outcome | Promise<Outcome> {
  if (isRecordedEnd(returned)) return returned.outcome;
  const result: ToolResult | undefined = isToolResult(returned) ? returned : undefined;
  switch (result?.status) {
    case 'error':
      return failed(judged.run.toolName, result);
    case 'pending':
      return waiting(judged, result);
    case 'reply':
      return judgeReply(judged, result);
    case 'ok':
      return judgeSuccess(judged, result.value, result);
    default:
      return judgeSuccess(judged, returned, undefined);
  }
}

function judgeSuccess(judged: Judged, value: unknown, said: OkResult | undefined): Outcome | Promise<Outcome> {
  const { tool, policies } = judged;
  const isPlain = tool.output === undefined && policies.length === 0 && tool.toModelOutput === undefined;
  return isPlain ? { status: 'ok', value, text: textOf(judged, value, said) } : judgeInFull(judged, value, said);
}

async function judgeInFull(judged: Judged, returned: unknown, said: OkResult | undefined): Promise<Outcome> {
  const { tool, run, input } = judged;
  const checked =
    tool.output === undefined ? { ok: true as const, value: returned } : await tool.output.validate(returned);
  if (!checked.ok) {
    const problems = checked.problems
      .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
      .join('; ');
    const message = `"${run.toolName}" returned what its output schema refuses: ${problems}`;
    return refusedAfterRun(run, errorOutcome('execution', message));
  }
  const { value } = checked;
  const refused = await askPolicies(judged, value);
  if (refused !== undefined) return refused;
  if (tool.toModelOutput === undefined || said?.excludeValueFromContext === true)
    return { status: 'ok', value, text: textOf(judged, value, said) };
  const read = await readModelOutput(tool.toModelOutput, { toolCallId: run.callId, input, output: value });
  if (read === undefined) return { status: 'ok', value, text: textOf(judged, value, said) };
  // The tool reports the failure itself, in its own words.
  return 'error' in read ? errorOutcome('execution', read.error) : { status: 'ok', value, ...read };
}

async function judgeReply(judged: Judged, { user, model }: ReplyResult): Promise<Outcome> {
  const refused = await askPolicies(judged, { user, model });
  return refused ?? { status: 'ok', value: { user, model }, text: renderValue(model), userText: renderValue(user) };
}

async function askPolicies({ run, input, policies, draft }: Judged, value: unknown): Promise<Outcome | undefined> {
  if (policies.length === 0) return undefined;
  const { callId, toolName, logger } = run;
  const refused = await checkAfter(
    policies,
    { callId, toolName, input, value },
    { session: draft, logger, record: (event) => draft.record(event) },
  );
  return refused && refusedAfterRun(run, refused);
}

/** A plain value is only rendered. A value with a message follows the message, unless it is empty or excluded. */
function textOf({ tool }: Judged, value: unknown, said: OkResult | undefined): string {
  if (said === undefined) return renderValue(value, tool.render);
  return withMessage(
    said.message,
    said.excludeValueFromContext === true || isEmpty(value) ? '' : renderValue(value, tool.render),
  );
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function withMessage(message: unknown, rendered: string): string {
  const text = typeof message === 'string' ? message : renderValue(message);
  return rendered === '' ? text : `${text}\n\n${rendered}`;
}

function failed(toolName: string, result: FailResult): Outcome {
  const message =
    typeof result.message === 'string' && result.message !== '' ? result.message : `"${toolName}" failed.`;
  const rendered = 'value' in result ? renderValue(result.value) : '';
  return errorOutcome(
    typeof result.code === 'string' ? result.code : 'execution',
    message,
    withMessage(message, rendered),
  );
}

function waiting({ run, tool }: Judged, result: PendingResult): Outcome {
  if (tool.terminal) {
    return errorOutcome(
      'execution',
      `"${run.toolName}" is terminal, and a terminal tool cannot be pending: no model would read its answer.`,
    );
  }
  const { expiresInMs, onExpiry, display, message, asks } = result;
  return {
    status: 'pending',
    kind: asks === true ? 'input' : 'result',
    ...(expiresInMs === undefined ? {} : { expiresAt: run.clock.now() + expiresInMs }),
    ...(onExpiry === undefined ? {} : { onExpiry }),
    ...(display === undefined ? {} : { display }),
    text: typeof message === 'string' ? message : provisionalText(run, 'result'),
  };
}
