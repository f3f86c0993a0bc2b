import { createHash, createHmac } from 'node:crypto';
import {
  type CallToolRequest,
  createRequestStateCodec,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { PendingKind } from '../../domain/pending/pending-call.ts';
import { canonicalJson } from '../../ports/store/json.ts';
import { keyIdOf } from './mcp-caller.ts';

/** What a client carries from the question to its answer. It is signed, and says nothing that the client may not know. */
export interface CallState {
  /** A hash of the tool's name and the arguments: an answer continues only the call that asked. */
  readonly request: string;
  /** The run that the call began with. */
  readonly runId: string;
  readonly contextId: string;
  /** The calls that were asked about, and what for: a call may wait for approval, and then for its result. */
  readonly calls: Readonly<Record<string, PendingKind>>;
}

/** A question may be answered as long as a call may wait. */
const LIFETIME_SECONDS = 7 * 24 * 3_600;

/** All gateways on a store share its secret, so an answer may come to another one than the question came from. */
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

/** The state that came with the request, if any did. Its signature and key are checked by the package before. */
export function stateOf(ctx: ServerContext, params: CallToolRequest['params']): CallState | undefined {
  const state = ctx.mcpReq.requestState<CallState>();
  if (state !== undefined && state.request !== requestHash(params))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  return state;
}
