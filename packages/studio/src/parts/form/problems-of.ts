import { ClientError } from '@lastcall/client';
import type { Problem } from './path.ts';

/** The problems that the gateway found in the request, each with its path. */
export function problemsOf(error: unknown): readonly Problem[] {
  if (!(error instanceof ClientError)) return [];
  const { problems } = (error.details ?? {}) as { readonly problems?: readonly Problem[] };
  return problems ?? [];
}
