import { invalid } from '../../domain/entities/invalid.ts';
import { type Caller, limitedTo } from '../caller.ts';

/** The entity that a request is about. A caller who acts for one entity cannot name another. */
export function onBehalf(caller: Caller, entityId: string | undefined): string | undefined {
  const own = limitedTo(caller);
  if (own !== undefined && entityId !== undefined && entityId !== own)
    throw invalid('entityId', "must be absent or the token's own entity.");
  return own ?? entityId;
}

/** Like `onBehalf`. An operator who signed in as a person acts as that person, unless they name another entity. */
export function actingFor(caller: Caller, entityId: string | undefined): string | undefined {
  return onBehalf(caller, entityId) ?? (caller.kind === 'session' ? caller.entityId : undefined);
}
