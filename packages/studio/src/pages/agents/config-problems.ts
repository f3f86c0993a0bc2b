import { ClientError } from '@lastcall/client';
import type { Problem } from '../../form/path.ts';

/** What the gateway says is wrong with what was sent, each with its place. */
export function problemsOf(error: unknown): readonly Problem[] {
  if (!(error instanceof ClientError)) return [];
  const { problems } = (error.details ?? {}) as { readonly problems?: readonly Problem[] };
  return problems ?? [];
}
