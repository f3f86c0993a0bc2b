import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { View } from '../../domain/projects/view.ts';
import type { TurnCaller } from '../../runtime/chat/turn-request.ts';
import type { Holder } from '../places.ts';

/** A request to the MCP server. */
export interface McpRequest {
  readonly keyId: string;
  readonly view: View;
  readonly address: string;
  readonly requestId: string;
  /** Its body, parsed. */
  readonly body: unknown;
}

/** A key in the form in which the MCP package passes it to request handlers. The secret itself is not included. */
export function toAuthInfo({ keyId, ...extra }: Omit<McpRequest, 'body'>): AuthInfo {
  return { token: '', clientId: keyId, scopes: [], extra };
}

/** The holder whose share of the waiting requests a call counts towards. */
export function holderOf(ctx: ServerContext): Holder {
  const address = ctx.http?.authInfo?.extra?.address;
  return {
    caller: { kind: 'key', keyId: keyIdOf(ctx), scopes: [], view: viewOf(ctx) },
    address: typeof address === 'string' ? address : '',
  };
}

export function keyIdOf({ http }: ServerContext): string {
  const keyId = http?.authInfo?.clientId;
  if (keyId === undefined) throw new Error('A request of the MCP server has no key.');
  return keyId;
}

/** What the key can see. */
export function viewOf({ http }: ServerContext): View {
  const view = http?.authInfo?.extra?.view;
  if (view === undefined) throw new Error('A request of the MCP server has no view.');
  return view as View;
}

export function callerOf(ctx: ServerContext): TurnCaller {
  return { kind: 'key', keyId: keyIdOf(ctx), view: viewOf(ctx) };
}
