import { StoreRefused, StoreUnavailable } from '../store-error.ts';

/** Converts what SQLite throws. */
export type ToSqliteError = (error: unknown) => unknown;

/**
 * Converts the error of a full disk to StoreUnavailable: work waits until there is room. The error of a damaged file says what to do. Other
 * errors are returned unchanged.
 */
export function toSqliteError(error: unknown): unknown {
  if (isDiskFull(error)) return new StoreUnavailable(error, { isFull: true });
  return isDamaged(error) ? new StoreRefused(damagedText(error), { cause: error }) : error;
}

/** SQLite notices a damaged page only when it reads it, so a gateway may start on a file that is damaged in part. */
function damagedText(error: Error): string {
  return `The file lastcall.db is damaged (${error.message}): what needs the damaged part fails. Stop the gateway and restore a backup.`;
}

/** The same, and reports a full disk at most once a minute: workers and sweeps try again much more often. */
export function reportFull(onFull: (error: unknown) => void): ToSqliteError {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (isDiskFull(error) && performance.now() >= quietUntil) {
      quietUntil = performance.now() + REPORT_MS;
      onFull(error);
    }
    return toSqliteError(error);
  };
}

const REPORT_MS = 60_000;

/** Why a start is refused that found no room for its first writes. Undefined for every other error. */
export function fullAtStart(home: string, error: unknown): StoreRefused | undefined {
  const isFull = isDiskFull(error) || (error instanceof StoreUnavailable && isDiskFull(error.cause));
  if (!isFull) return undefined;
  const message = `The disk of the folder "${home}" is full. Make room, or set LASTCALL_HOME to a folder on another disk.`;
  return new StoreRefused(message, { cause: error });
}

const [SQLITE_FULL, SQLITE_IOERR_SHMSIZE, SQLITE_CORRUPT, SQLITE_NOTADB] = [13, 4874, 11, 26];

function isDamaged(error: unknown): error is Error {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  // The lower byte of an extended code is the code.
  const code = typeof errcode === 'number' ? errcode & 0xff : undefined;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** After such an error SQLite undoes the transaction. */
function isDiskFull(error: unknown): boolean {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return errcode === SQLITE_FULL || errcode === SQLITE_IOERR_SHMSIZE;
}
