import type { Logger } from '@lastcall/core';
import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';

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
  if (error instanceof StoreUnavailable)
    return errorResponse(
      new ApiError(503, error.code, error.message, {
        retryAfter: 2,
        // Clients repeat requests that were refused, but not requests that may have been done.
        ...(error.inDoubt ? { details: { inDoubt: true } } : {}),
      }),
    );
  logger.error('A request failed.', { requestId, error });
  const message = `Internal error. The log has the details under request ${requestId}.`;
  return Response.json({ error: { code: 'internal', message, details: { requestId } } }, { status: 500 });
}

/**
 * Converts an error that happened after the request was stored. A status that invites a retry would be wrong: the client would
 * have the request done twice.
 */
export function afterCommit(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return new StoreUnavailable(error.cause, { inDoubt: true });
  if (!(error instanceof ApiError) || !REPEATED.has(error.status)) return error;
  const { code, message, retryAfter, details, status } = error;
  const [told, toldCode] = status === 401 ? ([403, 'access_ended'] as const) : ([503, code] as const);
  return new ApiError(told, toldCode, `${message} The request is stored and continues.`, {
    details: { ...(details as object | undefined), inDoubt: true },
    ...(retryAfter === undefined ? {} : { retryAfter }),
    cause: error,
  });
}

/** Statuses after which clients repeat a request automatically: after a 401 with a new token. */
const REPEATED: ReadonlySet<number> = new Set([401, 429, 503]);

export function errorBody({ code, message, details }: ApiError): ErrorBody {
  return { error: { code, message, ...(details === undefined ? {} : { details }) } };
}

/** `beside` has the fields next to the error. */
export function errorResponse(error: ApiError, beside: object = {}): Response {
  const { status, details, retryAfter } = error;
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
