import type { Scope } from '../../domain/keys/scope.ts';

/** Who is asking. */
export type Caller =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'key'; readonly keyId: string; readonly scopes: readonly Scope[] }
  | {
      readonly kind: 'entity';
      readonly entityId: string;
      /** Of its token, in milliseconds since the epoch. */
      readonly expiresAt: number;
    };
