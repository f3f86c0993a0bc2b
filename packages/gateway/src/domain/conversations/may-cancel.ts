import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { ApiError, notFound } from '../api-error.ts';
import { getRun } from '../runs/run.ts';
import { type ContextUser, getContext } from './context.ts';

/** An entity may cancel runs in contexts that it owns. Other runs are "not found". */
export async function assertMayCancel(db: Kysely<Tables>, runId: string, user: ContextUser): Promise<void> {
  if (user.kind === 'key') return;
  const { threadId } = await getRun(db, runId);
  await getContext(db, threadId, user).catch((error: unknown) => {
    throw error instanceof ApiError ? notFound('run', runId) : error;
  });
}
