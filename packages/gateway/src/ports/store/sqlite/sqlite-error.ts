import { StoreRefused, StoreUnavailable } from '../store-error.ts';

/** Converts what SQLite throws. */
export type ToSqliteError = (error: unknown) => unknown;

/** Converts the error of a full disk to StoreUnavailable: work waits until there is room. Other errors are returned unchanged. */
export function toSqliteError(error: unknown): unknown {
  return isDiskFull(error) ? new StoreUnavailable(error, { isFull: true }) : error;
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

const [SQLITE_FULL, SQLITE_IOERR_SHMSIZE] = [13, 4874];

/** After such an error SQLite undoes the transaction. */
function isDiskFull(error: unknown): boolean {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return errcode === SQLITE_FULL || errcode === SQLITE_IOERR_SHMSIZE;
}
