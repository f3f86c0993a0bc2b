import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { ApiError, notFound } from '../api-error.ts';
import { getRun } from '../runs/run.ts';
import { type ConversationUser, getConversation } from './conversation.ts';

/** An entity may cancel runs in conversations that it owns. Other runs are "not found". */
export async function assertMayCancel(db: Kysely<Tables>, runId: string, user: ConversationUser): Promise<void> {
  if (user.kind === 'key') return;
  const { threadId } = await getRun(db, runId);
  await getConversation(db, threadId, user).catch((error: unknown) => {
    throw error instanceof ApiError ? notFound('run', runId) : error;
  });
}
