import { z } from 'zod';
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
  const status = response.status === 422 ? 400 : response.status;
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  // Otherwise the client would repeat the request twice, and be refused each time.
  if (!PASSING.has(status)) headers.set('x-should-retry', 'false');
  return Response.json(toOpenAiError(error, status), { status, headers });
}

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
