import { LastcallError } from '@lastcall/core';

/**
 * A request that is refused. HTTP responds with `status` and `{ error: { code, message, details } }`; a tool call fails with the
 * message.
 */
export class ApiError extends LastcallError {
  override readonly name: string = 'ApiError';
  readonly status: ApiStatus;
  readonly details: unknown;
  /** The number of seconds after which another attempt may succeed. */
  readonly retryAfter: number | undefined;

  constructor(
    status: ApiStatus,
    code: string,
    message: string,
    { details, retryAfter, cause }: { details?: unknown; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(code, message, { cause });
    this.status = status;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

export type ApiStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 422 | 429 | 502 | 503;

/** Also used for things that the caller must not see, so that they cannot tell that these exist. */
export function notFound(what: string, id: string): ApiError {
  return new ApiError(404, 'not_found', `There is no ${what} "${id}".`);
}

/** For `catch`: returns undefined for "not found". Every other error is rethrown. */
export function ifNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.status !== 404) throw error;
}
