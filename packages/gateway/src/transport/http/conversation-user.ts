import type { TurnCaller } from '../../runtime/chat/turn-request.ts';
import type { Caller } from '../caller.ts';

/** The caller who uses a conversation. Endpoints of conversations require credentials. */
export function conversationUser(caller: Caller): TurnCaller {
  if (caller.kind === 'anonymous') throw new Error('An endpoint of conversations was called without credentials.');
  if (caller.kind === 'key') return { kind: 'key', keyId: caller.keyId, view: caller.view };
  const { entityId } = caller;
  if (caller.kind === 'session' && caller.scopes.length > 0)
    return { kind: 'key', keyId: caller.keyId ?? caller.sessionId, entityId, view: caller.view };
  if (entityId === undefined) throw new Error('A session has neither scopes nor a person.');
  return { kind: 'entity', entityId };
}
