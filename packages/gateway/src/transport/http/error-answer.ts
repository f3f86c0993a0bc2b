import type { Logger } from '@lastcall/core';
import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { ArtifactsUnavailable } from '../../ports/artifacts/artifacts-unavailable.ts';
import { UnreadableJson } from '../../ports/store/schema/json.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { statusOf } from './statuses.ts';

/** The body of every error. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown };
}

export const errorBodySchema: z.ZodType<ErrorBody> = z
  .looseObject({
    error: z.object({
      code: z.string().meta({ description: 'Stable, for programs to test. docs/errors.md lists all codes.' }),
      message: z.string().meta({ description: 'What was expected, what was sent, and what to do.' }),
      details: z.unknown().optional(),
    }),
  })
  .meta({ id: 'ErrorBody', description: 'What every refusal of the gateway answers.' });

/** Converts any error to a response. Unexpected errors are logged, and the client only gets the request's id. */
export function errorAnswer(error: unknown, { requestId, logger }: { requestId: string; logger: Logger }): Response {
  if (error instanceof ApiError) return errorResponse(error);
  if (error instanceof StoreUnavailable) {
    if (error.isRefused) logger.error(error.message, { requestId, error: error.cause });
    return errorResponse(
      new ApiError('store_unavailable', error.message, {
        retryAfter: 2,
        // Clients repeat requests that were refused, but not requests that may have been done.
        ...(error.inDoubt ? { details: { inDoubt: true } } : {}),
      }),
    );
  }
  if (error instanceof ArtifactsUnavailable) {
    logger.error(error.message, { requestId, error: error.cause });
    return errorResponse(new ApiError('artifacts_unavailable', error.message, { retryAfter: 5 }));
  }
  logger.error('A request failed.', { requestId, error });
  const what =
    error instanceof UnreadableJson
      ? 'Internal error: what this request needs is damaged in the database. Stop the gateway and restore a backup.'
      : 'Internal error.';
  const message = `${what} The log has the details under request ${requestId}.`;
  return Response.json({ error: { code: 'internal', message, details: { requestId } } }, { status: 500 });
}

/**
 * Converts an error that happened after the request was stored. A status that invites a retry would be wrong: the client would
 * have the request done twice.
 */
export function afterCommit(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return new StoreUnavailable(error.cause, { inDoubt: true });
  return error instanceof ApiError && REPEATED.has(statusOf(error)) ? new RefusedAfterCommit(error) : error;
}

/** Statuses after which clients repeat a request automatically: after a 401 with a new token. */
const REPEATED: ReadonlySet<number> = new Set([401, 429, 503]);

/** The request is stored, and its answer cannot be awaited. */
class RefusedAfterCommit extends ApiError {
  constructor(cause: ApiError) {
    const { code, message, retryAfter, details } = cause;
    super(statusOf(cause) === 401 ? 'access_ended' : code, `${message} The request is stored and continues.`, {
      details: { ...(details as object | undefined), inDoubt: true },
      ...(retryAfter === undefined ? {} : { retryAfter }),
      cause,
    });
  }
}

export function errorBody({ code, message, details }: ApiError): ErrorBody {
  return { error: { code, message, ...(details === undefined ? {} : { details }) } };
}

/** `beside` has the fields next to the error. */
export function errorResponse(error: ApiError, beside: object = {}): Response {
  const { details, retryAfter } = error;
  // Clients repeat what was refused with 429, even if the error says that it is stored.
  const status = error instanceof RefusedAfterCommit && statusOf(error) === 429 ? 503 : statusOf(error);
  const headers = {
    ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 405 ? { allow: String((details as { allow?: unknown } | undefined)?.allow ?? '') } : {}),
  };
  return Response.json({ ...errorBody(error), ...beside }, { status, headers });
}

/** The same response with only the message as its body. The code is in a header. */
export async function toTextAnswer(answer: Response): Promise<Response> {
  const { error } = (await answer.json()) as ErrorBody;
  const headers = new Headers(answer.headers);
  headers.set('content-type', 'text/plain; charset=utf-8');
  headers.set(ERROR_CODE_HEADER, error.code);
  return new Response(error.message, { status: answer.status, headers });
}

export const ERROR_CODE_HEADER = 'x-error-code';
