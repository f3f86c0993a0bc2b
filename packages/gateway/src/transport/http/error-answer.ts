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
  .meta({ id: 'Error' });

/** Any error as an answer. What nobody expected is logged, and tells the client nothing but the request's id. */
export function errorAnswer(error: unknown, { requestId, logger }: { requestId: string; logger: Logger }): Response {
  if (error instanceof ApiError) return errorResponse(error);
  if (error instanceof StoreUnavailable)
    return errorResponse(new ApiError(503, error.code, error.message, { retryAfter: 2 }));
  logger.error('A request failed.', { requestId, error });
  const message = `Internal error. The log has the details under request ${requestId}.`;
  return Response.json({ error: { code: 'internal', message, details: { requestId } } }, { status: 500 });
}

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
