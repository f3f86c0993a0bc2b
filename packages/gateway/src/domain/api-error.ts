import { LastcallError } from '@lastcall/core';

/** What was asked for cannot be done. HTTP answers with `status` and `{ error: { code, message, details } }`; a tool's call fails with the message. */
export class ApiError extends LastcallError {
  override readonly name: string = 'ApiError';
  readonly status: ApiStatus;
  readonly details: unknown;
  /** Seconds after which trying again may help. */
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

export type ApiStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 503;

/** Also for what the asker may not know of: they are not told that it exists. */
export function notFound(what: string, id: string): ApiError {
  return new ApiError(404, 'not_found', `There is no ${what} "${id}".`);
}
