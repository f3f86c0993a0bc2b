import { EgressRefused } from './egress-refused.ts';
import { RedirectFailed } from './redirect-failed.ts';

/** Errors that occur before anything is sent. */
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_NOT_YET_VALID'],
]);

/** True if nothing was sent: the connection was refused or failed, and it did not follow a redirect. */
export function isNeverSent(error: unknown): error is Error & { readonly code: string } {
  if (error instanceof RedirectFailed) return false;
  return error instanceof EgressRefused || NEVER_SENT.has((error as { code?: unknown } | null)?.code);
}
