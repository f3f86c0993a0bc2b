import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../api-error.ts';

/** An address under which a browser can load an artifact without credentials, until it expires. */
export interface ArtifactAddress {
  /** A path on the gateway. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** An address cannot be revoked, and may be copied, so it expires soon. */
const LIFETIME_MS = 10 * 60_000;

/** All gateways on a store share its secret, so an address works on each of them. */
export function signAddress(secret: Uint8Array, id: string, now: number): ArtifactAddress {
  const expiresAt = now + LIFETIME_MS;
  const query = new URLSearchParams({ expires: String(expiresAt), signature: signatureOf(secret, id, expiresAt) });
  return { url: `/api/artifacts/${encodeURIComponent(id)}/content?${query}`, expiresAt };
}

interface Signed {
  readonly id: string;
  readonly expires: number;
  readonly signature: string;
}

export function assertAddress(secret: Uint8Array, { id, expires, signature }: Signed, now: number): void {
  const expected = Buffer.from(signatureOf(secret, id, expires));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new ApiError('forbidden', 'The signature of this address is not valid.');
  if (expires <= now)
    throw new ApiError('forbidden', 'This address has expired. Ask for a new one with GET /api/artifacts/:id/address.');
}

function signatureOf(secret: Uint8Array, id: string, expiresAt: number): string {
  const key = createHmac('sha256', secret).update('artifact address').digest();
  return createHmac('sha256', key).update(`${expiresAt} ${id}`).digest('base64url');
}
