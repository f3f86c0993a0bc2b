import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../store-error.ts';

/**
 * Error codes of a lost connection: classes 08 (connection), 53 (resources) and 57 (operator intervention, e.g. a
 * restart); transactions that the server ended because they were idle or too long (25P03, 25P04); errors of the socket;
 * and statements that could not be sent, or came after the store was closed.
 */
const GONE: RegExp = /^(08|53|57)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|25P0[34]|unsent)/;
const GONE_MESSAGE: RegExp =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable|pool after calling end/i;

/** Converts connection errors to StoreUnavailable. Other errors are returned unchanged. */
export function toStoreError(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  const isGone = GONE.test(codeOf(error)) || GONE_MESSAGE.test(message) || isOfStandby(error);
  return isGone
    ? new StoreUnavailable(error, { isFull: codeOf(error) === '53100', isRefused: isCrowded(error) })
    : error;
}

/** Converts an error that came instead of a connection. Whatever the server says, it opens none now, and nothing was sent to it. */
export function toConnectError(error: unknown): unknown {
  const converted = toStoreError(error);
  const isAnswer = error instanceof DatabaseError && !(converted instanceof StoreUnavailable);
  return isAnswer ? new StoreUnavailable(error, { isRefused: true }) : converted;
}

/** True if the server, the database or the role has as many connections as it may have. */
export function isCrowded(error: unknown): boolean {
  return codeOf(error) === '53300';
}

/** The server is a standby. It becomes the primary soon, or its address will lead to another one. */
export class StandbyServer extends Error {
  readonly code = 'standby';

  constructor() {
    super('The server is a standby, which only reads.');
  }
}

/** What a standby answers to BEGIN READ WRITE, and to LISTEN and NOTIFY. Texts may be in any language; names of functions are not. */
function isOfStandby(error: unknown): boolean {
  const { routine } = (error ?? {}) as { routine?: unknown };
  return (
    error instanceof StandbyServer ||
    (codeOf(error) === '0A000' && routine === 'call_bool_check_hook') ||
    (codeOf(error) === '25006' && routine === 'PreventCommandDuringRecovery')
  );
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
