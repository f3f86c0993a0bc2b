import type { TurnCaller } from '../../runtime/chat/turn-request.ts';
import type { Caller } from '../caller.ts';

/** Who uses a context. Endpoints of contexts are open to nobody else. */
export function contextUser(caller: Caller): TurnCaller {
  if (caller.kind === 'nobody') throw new Error('An endpoint of contexts let somebody in without credentials.');
  return caller.kind === 'key' ? { kind: 'key', keyId: caller.keyId } : { kind: 'entity', entityId: caller.entityId };
}
