import type { Kysely } from 'kysely';
import { isUndeleted } from '../domain/entities/entity.ts';
import { isKeyValid } from '../domain/keys/api-key.ts';
import type { KeyLimits } from '../domain/keys/key-limits.ts';
import type { Scope } from '../domain/keys/scope.ts';
import { findSession } from '../domain/keys/session.ts';
import { EVERYTHING, type View } from '../domain/projects/view.ts';
import type { Tables } from '../ports/store/schema/tables.ts';

/** Who sends a request. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | KeyCaller
  | {
      readonly kind: 'entity';
      readonly entityId: string;
      /** When its token expires, in milliseconds since the epoch. */
      readonly expiresAt: number;
      /** The only call that the token is for: see domain/notify/card-link.ts. */
      readonly callId?: string;
    }
  | SessionCaller;

/** What limits the requests of a key, and of the browsers that signed in with it. */
interface CallerLimits {
  /** Everything else does not exist for the caller. */
  readonly view: View;
  /** It sees all projects, and acts in one of them with this request. */
  readonly choseProject?: true;
  readonly paths?: KeyLimits['paths'];
  readonly rate?: KeyLimits['rate'];
}

export interface KeyCaller extends CallerLimits {
  readonly kind: 'key';
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** When the key expires, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** A browser that is signed in. It may do what its scopes allow, and what its person may. */
export interface SessionCaller extends CallerLimits {
  readonly kind: 'session';
  readonly sessionId: string;
  /** Empty if they do not allow the operation: then the session acts only as its person. */
  readonly scopes: readonly Scope[];
  readonly entityId: string | undefined;
  readonly keyId: string | undefined;
  readonly expiresAt: number;
  /** Its key expires, and not only the session. */
  readonly hasExpiringKey: boolean;
}

/** The scopes that a caller acts with. */
export function scopesOf(caller: Caller): readonly Scope[] {
  return caller.kind === 'key' || caller.kind === 'session' ? caller.scopes : [];
}

/** What a caller can see. An entity sees what it takes part in, which is always in its own project. */
export function viewOf(caller: Caller): View {
  return caller.kind === 'key' || caller.kind === 'session' ? caller.view : EVERYTHING;
}

/** The entity whose view a caller is limited to. Undefined for operators, who see everything. */
export function limitedTo(caller: Caller): string | undefined {
  if (caller.kind === 'entity') return caller.entityId;
  return caller.kind === 'session' && caller.scopes.length === 0 ? caller.entityId : undefined;
}

/** True if a caller who was authenticated earlier is still valid: the key is not revoked and the token has not expired. */
export async function isStillValid(db: Kysely<Tables>, caller: Caller): Promise<boolean> {
  switch (caller.kind) {
    case 'anonymous':
      return false;
    case 'entity':
      return caller.expiresAt > Date.now() && (await isUndeleted(db, caller.entityId));
    case 'key':
      return await isKeyValid(db, caller.keyId);
    case 'session':
      return (await findSession(db, { id: caller.sessionId }, Date.now())) !== undefined;
  }
}
