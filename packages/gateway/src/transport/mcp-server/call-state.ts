import { createHash, createHmac } from 'node:crypto';
import {
  type CallToolRequest,
  createRequestStateCodec,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { canonicalJson } from '../../ports/store/schema/json.ts';
import { keyIdOf } from './mcp-caller.ts';

/**
 * The state that a client carries from the question to its answer. It is signed, and contains nothing that the client may not
 * know.
 */
export interface CallState {
  /** A hash of the tool's name and the arguments: an answer continues only the call that asked. */
  readonly request: string;
  /** The run that the call began with. */
  readonly runId: string;
  readonly contextId: string;
  /** The calls that were asked about, with what each waited for. */
  readonly calls: Readonly<Record<string, string>>;
}

/** A call may wait more than once: for approval and then for its result, or for the answer to one question after another. */
export function stageOf({ kind, round }: WaitingCall): string {
  return round === undefined ? kind : `${kind} ${round}`;
}

/** A question can be answered for as long as a call may wait. */
const LIFETIME_SECONDS = 7 * 24 * 3_600;

/** All gateways on a store share its secret, so another gateway than the one that asked can receive the answer. */
export function callStateCodec(secret: Uint8Array): RequestStateCodec<CallState> {
  return createRequestStateCodec<CallState>({
    key: createHmac('sha256', secret).update('mcp request state').digest(),
    ttlSeconds: LIFETIME_SECONDS,
    bind: (ctx) => `${ctx.mcpReq.method} ${keyIdOf(ctx)}`,
  });
}

export function requestHash({ name, arguments: given = {} }: CallToolRequest['params']): string {
  return createHash('sha256').update(canonicalJson({ name, given })).digest('base64url');
}

/** The state in the request, if any. The package has already checked its signature and key. */
export function stateOf(ctx: ServerContext, params: CallToolRequest['params']): CallState | undefined {
  const state = ctx.mcpReq.requestState<CallState>();
  if (state !== undefined && state.request !== requestHash(params))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  return state;
}
