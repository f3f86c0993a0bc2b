import { StoreUnavailable } from '../store-error.ts';

/**
 * Error codes of a lost connection: classes 08 (connection), 53 (resources) and 57 (operator intervention, e.g. a
 * restart); transactions that the server ended because they were idle or too long (25P03, 25P04); errors of the socket;
 * and statements that could not be sent.
 */
const GONE: RegExp = /^(08|53|57)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|25P0[34]|unsent)/;
const GONE_MESSAGE: RegExp =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i;

/** Converts connection errors to StoreUnavailable. Other errors are returned unchanged. */
export function toStoreError(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  return GONE.test(codeOf(error)) || GONE_MESSAGE.test(message) ? new StoreUnavailable(error) : error;
}

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/**
 * True if a prepared statement has to be prepared again: the server no longer has it, or a migration has changed the
 * types of its columns.
 */
export function isStaleStatement(error: unknown): boolean {
  const { routine } = (error ?? {}) as { routine?: unknown };
  return codeOf(error) === '26000' || (codeOf(error) === '0A000' && routine === 'RevalidateCachedQuery');
}
