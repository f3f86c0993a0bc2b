import type { CallToolRequest, ServerContext } from '@modelcontextprotocol/server';
import { notFound } from '../../domain/api-error.ts';
import { getConversation } from '../../domain/conversations/conversation.ts';
import type { RequestIdentity, StartedTurn } from '../../domain/conversations/turn-requests.ts';
import { findOwnTurn } from '../../domain/conversations/turn-requests.ts';
import { isId } from '../../domain/entities/column-text.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import { callerId, startTurn } from '../../runtime/chat/start-turn.ts';
import type { TurnCaller, TurnRequest } from '../../runtime/chat/turn-request.ts';
import type { Registry } from '../../runtime/toolset/registry.ts';
import { auditMcp } from './audit-mcp.ts';
import { requestHash } from './call-state.ts';
import { callerOf } from './mcp-caller.ts';
import type { Offered } from './offered.ts';

/** A key in `_meta` of a request: the same key again returns the first call's result and runs nothing. */
const IDEMPOTENCY_KEY = 'lastcall/idempotencyKey';

interface Beginning {
  readonly services: Services;
  readonly registry: Registry;
  readonly offered: Offered;
  readonly params: CallToolRequest['params'];
  readonly ctx: ServerContext;
  /** True if the client receives progress notifications. */
  readonly isWatched: boolean;
}

/** Starts the turn of a call, or finds the one that it asks for. Once this has returned, the turn is durable. */
export async function beginCall(beginning: Beginning): Promise<StartedTurn> {
  const { services, registry, offered, params, ctx, isWatched } = beginning;
  const caller = callerOf(ctx);
  const input = params.arguments ?? {};
  const identity = identityOf(ctx, params);
  return await services.store.transaction(async (tx) => {
    if (offered.kind === 'run') return await findTurn(tx, caller, input.run_id);
    const asked =
      offered.kind === 'tool'
        ? { conversation: {}, input: { call: { tool: offered.definition.name, input } } }
        : await toMessage(tx, offered.agentId, caller, input);
    const settings = isWatched ? {} : { isUnwatched: true as const };
    const started = await startTurn(tx, registry, { caller, identity, settings, isBrief: true, ...asked });
    if (!started.isRepeat) auditMcp(tx, ctx, { kind: 'conversation', id: started.contextId });
    return started;
  });
}

/** Throws 422 for a key that cannot be stored: without it, a repeated call would run twice. */
export function idempotencyKeyOf(ctx: ServerContext): string | undefined {
  const key = ctx.mcpReq._meta?.[IDEMPOTENCY_KEY] ?? undefined;
  if (key === undefined || (typeof key === 'string' && isId(key))) return key;
  throw invalid(`_meta["${IDEMPOTENCY_KEY}"]`, 'must be a text of 1–500 characters.');
}

/** Keys of MCP calls and of the chat endpoints are separate. */
function identityOf(ctx: ServerContext, params: CallToolRequest['params']): RequestIdentity {
  const key = idempotencyKeyOf(ctx);
  return { bodyHash: requestHash(params), ...(key === undefined ? {} : { key: `mcp:${key}` }) };
}

type Asked = Pick<TurnRequest, 'conversation' | 'input'>;

async function toMessage(
  tx: Tx,
  agentId: string,
  caller: TurnCaller,
  { message, context_id: contextId }: Readonly<Record<string, unknown>>,
): Promise<Asked> {
  if (typeof message !== 'string' || message.trim() === '')
    throw invalid('message', 'must be a text that is not empty.');
  if (contextId === undefined) return { conversation: { agent: agentId }, input: { message } };
  if (typeof contextId !== 'string') throw invalid('context_id', 'must be the context_id of an earlier result.');
  const conversation = await getConversation(tx.db, contextId, caller);
  // A conversation with another agent is not found.
  if (conversation.agentId !== agentId) throw notFound('conversation', contextId);
  return { conversation: { contextId }, input: { message } };
}

/** Finds only runs that calls with the same key started, because a run's id is not secret. */
async function findTurn(tx: Tx, caller: TurnCaller, runId: unknown): Promise<StartedTurn> {
  if (typeof runId !== 'string' || !isId(runId)) throw invalid('run_id', 'must be the id of a run.');
  const row = await findOwnTurn(tx.db, callerId(caller), runId);
  if (row === undefined) throw notFound('run', runId);
  return row;
}
