import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { chunks } from '../chunks.ts';
import type { FileChanger } from '../files/stored-file.ts';
import type { ErasureJob } from './erasure-job.ts';
import { ERASED_JSON } from './mark.ts';

interface TakingRuns {
  readonly threadId: string;
  readonly runIds: readonly string[];
}

type Piece = (work: (tx: Tx) => Promise<number>) => Promise<void>;

interface Span {
  readonly created_at: number;
  readonly ended_at: number | null;
}

/**
 * Goals, memories, plans and files that an agent wrote in runs that took the texts. Only files say which run wrote them; of the others, the
 * times tell. Keys are made of words of the text, so they are replaced, too.
 */
export async function eraseNotes(job: ErasureJob, { threadId, runIds }: TakingRuns, piece: Piece): Promise<void> {
  const { db } = job.store;
  const spans: Span[] = [];
  for (const few of chunks(runIds, 500))
    spans.push(...(await db.selectFrom('runs').select(['created_at', 'ended_at']).where('id', 'in', few).execute()));
  const wasWritten = (at: number): boolean =>
    spans.some(({ created_at, ended_at }) => created_at <= at && (ended_at === null || at <= ended_at));
  const notesOf = async (table: 'goals' | 'memories' | 'plans') => {
    const notes = db.selectFrom(table).select(['key', 'updated_at']).where('agent_id', '=', threadId);
    // A plan that an operator set during the run was not written by it.
    return await (table === 'plans' ? notes.where('plans.set_by', 'is', null) : notes).execute();
  };
  let count = 0;
  for (const table of ['goals', 'memories', 'plans'] as const) {
    const written = (await notesOf(table)).filter(({ key, updated_at }) => !isErasedKey(key) && wasWritten(updated_at));
    for (const { key } of written)
      await piece(async (tx) => {
        await eraseNote(tx, { table, agentId: threadId, key, newKey: erasedKey(job, ++count) });
        return 1;
      });
  }
  const taking = new Set(runIds);
  const files = await db.selectFrom('files').select(['path', 'changed_by']).where('thread_id', '=', threadId).execute();
  for (const { path, changed_by } of files) {
    const by = fromJson<FileChanger>(changed_by);
    if (!('runId' in by) || !taking.has(by.runId)) continue;
    await piece(async (tx) => {
      for (const table of ['files', 'file_undo'] as const)
        await tx.db.deleteFrom(table).where('thread_id', '=', threadId).where('path', '=', path).execute();
      return 1;
    });
  }
}

export const erasedKey = ({ erasure }: ErasureJob, count: number): string => `erased-${erasure.id.slice(-6)}-${count}`;

export const isErasedKey = (key: string): boolean => /^erased-[0-9a-f]{6}-\d+$/.test(key);

interface ErasedNote {
  readonly table: 'goals' | 'memories' | 'plans';
  readonly agentId: string;
  readonly key: string;
  readonly newKey: string;
}

export async function eraseNote({ db }: Tx, { table, agentId, key, newKey }: ErasedNote): Promise<void> {
  // A plan without its instruction has nothing to say when it is due.
  const changed =
    table === 'goals'
      ? db.updateTable('goals').set({ key: newKey, description: ERASED_JSON })
      : table === 'memories'
        ? db.updateTable('memories').set({ key: newKey, value: ERASED_JSON })
        : db.updateTable('plans').set({ key: newKey, name: ERASED_JSON, instruction: ERASED_JSON, next_at: null });
  await (changed as ReturnType<typeof db.updateTable<'plans'>>)
    .where('agent_id', '=', agentId)
    .where('key', '=', key)
    .execute();
}
