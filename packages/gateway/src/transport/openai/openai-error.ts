import { z } from 'zod';
import type { ErrorCode } from '../../domain/api-error.ts';
import type { ErrorBody } from '../http/error-answer.ts';

/** Under these paths, errors have OpenAI's shape. */
export function isOpenAiPath(path: string): boolean {
  return path.startsWith('/v1/');
}

export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

export const openAiErrorSchema: z.ZodType<OpenAiError> = z
  .object({
    error: z.object({
      message: z.string().meta({ description: 'What was expected, what was sent, and what to do.' }),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().meta({ description: 'Stable, for programs to test. docs/errors.md lists all codes.' }),
    }),
  })
  .meta({ id: 'OpenAiError' });

/** Converts an error response of the gateway to OpenAI's format. */
export async function inOpenAiShape(response: Response): Promise<Response> {
  const { error } = (await response.json()) as ErrorBody;
  const status = response.status === 422 || ENDED.has(error.code) ? 400 : response.status;
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  // Otherwise the client would repeat the request twice, and be refused each time.
  if (!PASSING.has(status)) headers.set('x-should-retry', 'false');
  return Response.json(toOpenAiError(error, response.status), { status, headers });
}

/**
 * A run that has ended must not run again. Elsewhere these are 502 and 409, after which the AI SDK and LangChain send the same request again,
 * as a new one: they do not read `x-should-retry`, and do not mark what they repeat.
 */
const ENDED: ReadonlySet<string> = new Set<ErrorCode>(['run_failed', 'run_cancelled']);

/** Statuses that may pass by the time the client tries again. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 503]);

export function toOpenAiError({ code, message, details }: ErrorBody['error'], status: number): OpenAiError {
  const { path } = (details ?? {}) as { readonly path?: unknown };
  return { error: { message, type: typeOf(status), param: typeof path === 'string' ? path : null, code } };
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 402) return 'insufficient_quota';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
