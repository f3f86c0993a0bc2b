import {
  type CallToolRequest,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isToolCaller } from '../../domain/agents/tool-caller.ts';
import { firstOutcomeIn } from '../../domain/calls/outcomes-of.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { agentOfConversation } from '../../domain/conversations/conversation.ts';
import { type RunAnswer, runDeleted } from '../../domain/conversations/run-answer.ts';
import type { Services } from '../../ports/services.ts';
import { followTurn, type TurnState } from '../../runtime/chat/follow-turn.ts';
import type { Registry } from '../../runtime/toolset/registry.ts';
import { afterCommit } from '../http/error-answer.ts';
import { beginCall, idempotencyKeyOf } from './begin-call.ts';
import { cancelWithCall } from './call-cancellation.ts';
import { CallProgress } from './call-progress.ts';
import { type CallState, requestHash, stageOf, stateOf } from './call-state.ts';
import { giveAnswers } from './give-answers.ts';
import { viewOf } from './mcp-caller.ts';
import { findOffered, nameOfGetRun, type Offer, type Offered } from './offered.ts';
import { toQuestion } from './question.ts';
import { agentResult, failed, toolResult } from './tool-result.ts';
import { type Later, stillRunning, waitsFor } from './waiting-text.ts';

export interface CallingOptions {
  readonly services: Services;
  readonly registry: Registry;
  readonly offer: Offer;
  readonly codec: RequestStateCodec<CallState>;
  readonly stopping: AbortSignal;
}

/** One request of a client. */
interface CallRequest {
  readonly params: CallToolRequest['params'];
  readonly ctx: ServerContext;
  readonly era: 'legacy' | 'modern';
  readonly capabilities: ClientCapabilities | undefined;
  /** The client asked for log messages. */
  readonly isLogged: boolean;
}

type CallAnswer = CallToolResult | InputRequiredResult;

/**
 * Calls the tool or agent that is offered under the name. Every call is a turn of a new conversation, or of the one that it names: it
 * is durable, runs on any gateway, and continues if the client disconnects. If the turn waits for an answer, a client that
 * supports questions is asked, and sends the request again with its answers and the state of the call.
 */
export async function callTool(options: CallingOptions, request: CallRequest): Promise<CallAnswer> {
  const { services, registry, offer } = options;
  const { params, ctx } = request;
  const state = stateOf(ctx, params);
  const offered = await findOffered(services.store.db, offer, { name: params.name, view: viewOf(ctx) });
  if (offered === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
  const called: Called = { ...options, ...request, offered, idempotencyKey: idempotencyKeyOf(ctx) };
  if (state === undefined) {
    const isWatched = request.isLogged || ctx.mcpReq._meta?.progressToken !== undefined;
    const { runId, contextId } = await beginCall({ services, registry, offered, params, ctx, isWatched });
    return await follow(called, { runId, contextId, current: runId });
  }
  const { runId, contextId } = state;
  const given = await giveAnswers(services, registry, ctx, state);
  if (given.kind === 'continued') return await follow(called, { runId, contextId, current: given.runId });
  if (given.kind === 'dismissed') return failed(waitsFor(given.calls, await laterOf(called, runId)));
  return await ask(called, { runId, contextId }, given.calls, given.problem);
}

interface Called extends CallingOptions, CallRequest {
  readonly offered: Offered;
  readonly idempotencyKey: string | undefined;
}

interface FollowedTurn {
  /** The run that the call began with. */
  readonly runId: string;
  readonly contextId: string;
  /** The latest run of the turn. */
  readonly current: string;
}

/** Unless the call only reads a run, the turn is stored, so an error from here on does not mean that nothing was done. */
async function follow(called: Called, turn: FollowedTurn): Promise<CallAnswer> {
  try {
    return await toAnswer(called, turn);
  } catch (error) {
    throw called.offered.kind === 'run' ? error : afterCommit(error);
  }
}

async function toAnswer(called: Called, turn: FollowedTurn): Promise<CallAnswer> {
  const { services, ctx } = called;
  const { answer, waiting } = (await untilAnswered(called, turn)) ?? { answer: undefined, waiting: [] };
  if (answer === undefined) return failed(stillRunning(await laterOf(called, turn.runId)));
  const ours = waiting.filter((call) => !isAnsweredElsewhere(call));
  if (ours.length === 0) return await toResult(services, answer);
  ctx.mcpReq.signal.throwIfAborted();
  if (canBeAsked(called.capabilities)) return await ask(called, turn, ours);
  return failed(waitsFor(ours, await laterOf(called, turn.runId)));
}

/** Returns undefined if the call only reads a run that is not finished yet. */
async function untilAnswered(
  called: Called,
  { runId, contextId, current }: FollowedTurn,
): Promise<TurnState | undefined> {
  const { services, ctx, era, stopping, offered, isLogged, idempotencyKey } = called;
  const progress = new CallProgress(ctx, { runId, isOneTool: offered.kind === 'tool', isLogged });
  progress.started();
  const isLook = offered.kind === 'run';
  // A client with an idempotency key can repeat the request after its connection broke, so the call is not cancelled then.
  const isCloseCancel = era === 'modern' && idempotencyKey === undefined;
  const cancellable = { services, runId: current, contextId, ctx, isCloseCancel, stopping };
  using _cancelling = isLook ? undefined : cancelWithCall(cancellable);
  const enough = isLook ? AbortSignal.timeout(LONGEST_LOOK_MS) : undefined;
  const signal = AbortSignal.any([ctx.mcpReq.signal, stopping, ...(enough === undefined ? [] : [enough])]);
  const onEvent = progress.isWanted ? progress.tell.bind(progress) : undefined;
  try {
    return await followTurn(services, current, { signal, onEvent, isAnsweredElsewhere });
  } catch (error) {
    if (enough?.aborted === true && !ctx.mcpReq.signal.aborted) return undefined;
    throw error;
  }
}

/** Clients give up on a silent call after a minute, so reading a run waits less than that. */
const LONGEST_LOOK_MS = 25_000;

/** True if a worker answers the call, or if the tool names who may answer: then the caller cannot. */
function isAnsweredElsewhere({ job, answeredBy }: WaitingCall): boolean {
  return job !== undefined || answeredBy !== undefined;
}

function canBeAsked(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

async function ask(
  { codec, params, ctx }: Called,
  { runId, contextId }: Pick<FollowedTurn, 'runId' | 'contextId'>,
  calls: readonly WaitingCall[],
  problem?: string,
): Promise<InputRequiredResult> {
  const asked = Object.fromEntries(calls.map((call) => [call.callId, stageOf(call)]));
  const state = { request: requestHash(params), runId, contextId, calls: asked };
  return inputRequired({
    inputRequests: Object.fromEntries(calls.map((call) => [call.callId, toQuestion(call, problem)])),
    requestState: await codec.mint(state, ctx),
  });
}

async function toResult({ store: { db } }: Services, answer: RunAnswer): Promise<CallToolResult> {
  const agentId = await agentOfConversation(db, answer.contextId);
  if (agentId === undefined) throw runDeleted(answer.runId);
  if (!isToolCaller(agentId)) return agentResult(answer);
  // A conversation of the tool caller has one call, whose row has the full output.
  return toolResult(await firstOutcomeIn(db, answer.contextId), answer);
}

async function laterOf({ services, offer, ctx }: Called, runId: string): Promise<Later> {
  return { runId, getRunName: await nameOfGetRun(services.store.db, offer, viewOf(ctx)) };
}
