/** These fail before anything was sent. */
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);

/** True if the connection failed before the other side got anything. */
export function isNeverSent(error: unknown): boolean {
  return NEVER_SENT.has((error as { code?: unknown } | null)?.code);
}
