import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { type ContextUser, getContext } from './context.ts';
import { deleteContext } from './delete-context.ts';
import { shownContextId } from './own-context-id.ts';
import { lastUse } from './sweep-contexts.ts';

/**
 * Deletes a context because a caller asks for it. Throws 404 for one that the caller may not use, and 409 while a run goes on in it
 * or a call waits: their ends would have no place to be stored.
 */
export async function deleteIdleContext(
  tx: Tx,
  contextId: string,
  user: ContextUser,
): Promise<{ readonly id: string }> {
  const { id } = await getContext(tx.db, contextId, user);
  await lockThread(tx, id);
  if ((await lastUse(tx.db, id))?.isBusy === true) throw inUse(shownContextId(id, user));
  await deleteContext(tx, id);
  return { id: shownContextId(id, user) };
}

/** A request that is about to use the context comes first, and is then seen, or waits and finds no context. */
async function lockThread({ db, dialect }: Tx, contextId: string): Promise<void> {
  if (dialect === 'sqlite') return;
  await db.selectFrom('threads').select('id').where('id', '=', contextId).forUpdate().execute();
}

function inUse(contextId: string): ApiError {
  return new ApiError(
    'context_in_use',
    `Context "${contextId}" is in use: cancel its run or answer its calls first, then delete it.`,
  );
}
