import type { Logger } from '@lastcall/core';
import { z } from 'zod';
import { ApiError } from '../../domain/api-error.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';

/** What every refusal and failure looks like. */
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

/** Any error as an answer. What nobody expected is logged, and tells the client nothing but the request's id. */
export function errorAnswer(error: unknown, { requestId, logger }: { requestId: string; logger: Logger }): Response {
  if (error instanceof ApiError) return errorResponse(error);
  if (error instanceof StoreUnavailable)
    return errorResponse(
      new ApiError(503, error.code, error.message, {
        retryAfter: 2,
        // Clients repeat what was refused, but not what may have been done.
        ...(error.inDoubt ? { details: { inDoubt: true } } : {}),
      }),
    );
  logger.error('A request failed.', { requestId, error });
  const message = `Internal error. The log has the details under request ${requestId}.`;
  return Response.json({ error: { code: 'internal', message, details: { requestId } } }, { status: 500 });
}

/**
 * An error that comes after what was asked for is stored. One that says "nothing was done, come again" would not be true: clients
 * would have it done twice.
 */
export function afterCommit(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return new StoreUnavailable(error.cause, { inDoubt: true });
  if (!(error instanceof ApiError) || !REPEATED.has(error.status)) return error;
  const { code, message, retryAfter, details, status } = error;
  const [told, toldCode] = status === 401 ? ([403, 'access_ended'] as const) : ([503, code] as const);
  return new ApiError(told, toldCode, `${message} What was asked for is stored, and goes on.`, {
    details: { ...(details as object | undefined), inDoubt: true },
    ...(retryAfter === undefined ? {} : { retryAfter }),
    cause: error,
  });
}

/** What clients send again by themselves: with a new token after a 401. */
const REPEATED: ReadonlySet<number> = new Set([401, 429, 503]);

export function errorBody({ code, message, details }: ApiError): ErrorBody {
  return { error: { code, message, ...(details === undefined ? {} : { details }) } };
}

/** `beside` stands next to the error. */
export function errorResponse(error: ApiError, beside: object = {}): Response {
  const { status, details, retryAfter } = error;
  const headers = {
    ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 405 ? { allow: String((details as { allow?: unknown } | undefined)?.allow ?? '') } : {}),
  };
  return Response.json({ ...errorBody(error), ...beside }, { status, headers });
}

/** The same answer with nothing but the message in its body. The code is in a header. */
export async function toTextAnswer(answer: Response): Promise<Response> {
  const { error } = (await answer.json()) as ErrorBody;
  const headers = new Headers(answer.headers);
  headers.set('content-type', 'text/plain; charset=utf-8');
  headers.set(ERROR_CODE_HEADER, error.code);
  return new Response(error.message, { status: answer.status, headers });
}

export const ERROR_CODE_HEADER = 'x-error-code';
