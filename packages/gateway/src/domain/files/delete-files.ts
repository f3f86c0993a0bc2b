import type { Tx } from '../../ports/store/store.ts';

/** Deletes the files of a conversation. */
export async function deleteFilesOfThread({ db }: Tx, threadId: string): Promise<void> {
  await db.deleteFrom('files').where('thread_id', '=', threadId).execute();
  await db.deleteFrom('file_undo').where('thread_id', '=', threadId).execute();
}

/** Deletes the files of an agent and of all its conversations. */
export async function deleteFilesOfAgent({ db }: Tx, agentId: string): Promise<void> {
  const threads = db.selectFrom('threads').select('id').where('agent_id', '=', agentId);
  await db.deleteFrom('files').where('thread_id', 'in', threads).execute();
  await db.deleteFrom('file_undo').where('thread_id', 'in', threads).execute();
}
