import { StoreUnavailable } from './store-error.ts';

/**
 * Classes 08 (connection), 53 (resources), 57 (operator intervention, e.g. a restart); transactions that the server ended because they
 * stood still (25P03, 25P04); what the socket itself says; and what could not be sent.
 */
const GONE: RegExp = /^(08|53|57)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|25P0[34]|unsent)/;
const GONE_MESSAGE: RegExp =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i;

/** A failure of the connection, told as such; any other as it is. */
export function toStoreError(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  return GONE.test(codeOf(error)) || GONE_MESSAGE.test(message) ? new StoreUnavailable(error) : error;
}

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/**
 * Whether a prepared statement can no longer be run: the server has forgotten it, or a migration has changed the type of what it
 * returns. Prepared again, it can.
 */
export function isStaleStatement(error: unknown): boolean {
  const { routine } = (error ?? {}) as { routine?: unknown };
  return codeOf(error) === '26000' || (codeOf(error) === '0A000' && routine === 'RevalidateCachedQuery');
}
