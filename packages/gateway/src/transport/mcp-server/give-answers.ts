import type { Answer } from '@lastcall/core';
import { inputResponse, type ServerContext } from '@modelcontextprotocol/server';
import { ApiError } from '../../domain/api-error.ts';
import { keepLate } from '../../domain/calls/keep-late.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { askedCalls } from '../../domain/conversations/asked-calls.ts';
import type { Services } from '../../ports/services.ts';
import { startTurn } from '../../runtime/chat/start-turn.ts';
import type { Registry } from '../../runtime/toolset/registry.ts';
import { auditMcp } from './audit-mcp.ts';
import { type CallState, stageOf } from './call-state.ts';
import { callerOf } from './mcp-caller.ts';
import { type Said, toAnswer } from './question.ts';

/** What happened to the answers in a request. */
export type Given =
  /** The turn continues in this run. */
  | { readonly kind: 'continued'; readonly runId: string }
  /** Some answers are missing or invalid: the client is asked again. */
  | { readonly kind: 'ask-again'; readonly calls: readonly WaitingCall[]; readonly problem?: string }
  /** The client's user dismissed a question. */
  | { readonly kind: 'dismissed'; readonly calls: readonly WaitingCall[] };

/** Answers the calls that the state names. Everything else that the client sent is ignored. */
export async function giveAnswers(
  services: Services,
  registry: Registry,
  ctx: ServerContext,
  state: CallState,
): Promise<Given> {
  const calls = [...(await askedCalls(services.store.db, state.contextId, Object.keys(state.calls))).values()];
  // The question was answered before, and the call waits for something else now: the client repeated the request.
  if (calls.some((call) => state.calls[call.callId] !== stageOf(call)))
    return { kind: 'continued', runId: state.runId };
  const said = calls.map((call) => [call, saidOf(ctx, call.callId)] as const);
  if (said.some(([, one]) => one === undefined)) return { kind: 'ask-again', calls };
  const answers: Record<string, Answer> = {};
  for (const [call, one] of said) {
    const answer = toAnswer(call, one as Said);
    if (answer === undefined) return { kind: 'dismissed', calls };
    answers[call.callId] = answer;
  }
  try {
    const { runId } = await services.store
      .transaction(async (tx) => {
        const started = await startTurn(tx, registry, {
          caller: callerOf(ctx),
          conversation: { contextId: state.contextId },
          input: { answers },
        });
        if (!started.isRepeat) for (const id of Object.keys(answers)) auditMcp(tx, ctx, { kind: 'call', id });
        return started;
      })
      .catch((error: unknown) =>
        keepLate(services, error, (tx, { answered }) => auditMcp(tx, ctx, { kind: 'call', id: answered.callId })),
      );
    return { kind: 'continued', runId };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'invalid_answer')) throw error;
    return { kind: 'ask-again', calls, problem: error.message };
  }
}

function saidOf(ctx: ServerContext, callId: string): Said | undefined {
  const response = inputResponse(ctx.mcpReq.inputResponses, callId);
  return response.kind === 'elicit' ? response : undefined;
}
