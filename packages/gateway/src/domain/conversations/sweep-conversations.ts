import type { Kysely } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { IS_PENDING } from '../calls/is-waiting.ts';
import { hasCases } from '../evaluations/kept-runs.ts';
import { deleteConversation } from './delete-conversation.ts';

type SweepServices = Pick<Services, 'store' | 'limits'>;

/**
 * Deletes conversations that have not been used for a while, each in a separate transaction. Returns how many. Using a conversation does
 * not write to its row. So a conversation that seems due is checked, and if it was used meanwhile, that is noted for the next sweep.
 */
export async function sweepConversations(services: SweepServices, { now }: { now?: number } = {}): Promise<number> {
  const at = now ?? (await services.store.transaction(async (tx) => tx.now()));
  const { contextDays, briefContextDays } = services.limits;
  const brief = await sweepUnused(services, { isBrief: 1, before: at - briefContextDays * DAY_MS, at });
  return brief + (await sweepUnused(services, { isBrief: 0, before: at - contextDays * DAY_MS, at }));
}

const DAY_MS = 86_400_000;
const PAGE_SIZE = 200;

interface Unused {
  readonly isBrief: 0 | 1;
  readonly before: number;
  readonly at: number;
}

async function sweepUnused({ store }: SweepServices, unused: Unused): Promise<number> {
  let swept = 0;
  // Continues after the last page, so that a conversation that is skipped because it is in use is not read again.
  for (let after: DueConversation = START; ; ) {
    const due = await dueConversations(store.db, unused, after);
    for (const { id } of due) if (await store.transaction((tx) => sweepOne(tx, id, unused))) swept += 1;
    const last = due.at(-1);
    if (last === undefined || due.length < PAGE_SIZE) return swept;
    after = last;
  }
}

interface DueConversation {
  readonly id: string;
  readonly used_at: number;
}

const START: DueConversation = { id: '', used_at: -1 };

async function dueConversations(
  db: Kysely<Tables>,
  { isBrief, before }: Unused,
  after: DueConversation,
): Promise<readonly DueConversation[]> {
  return await db
    .selectFrom('contexts')
    .select(['id', 'used_at'])
    .where('is_brief', '=', isBrief)
    .where('used_at', '<', before)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('used_at', 'id'), '>', tuple(after.used_at, after.id)))
    .orderBy('used_at')
    .orderBy('id')
    .limit(PAGE_SIZE)
    .execute();
}

async function sweepOne(tx: Tx, contextId: string, { before, at }: Unused): Promise<boolean> {
  if (!(await lockThread(tx, contextId))) return false;
  const use = await lastUse(tx.db, contextId);
  if (use === undefined) return false;
  const isKept = use.isBusy || (use.usedAt < before && (await hasCases(tx.db, contextId)));
  const usedAt = isKept ? at : use.usedAt;
  if (usedAt < before) await deleteConversation(tx, contextId);
  else await tx.db.updateTable('contexts').set({ used_at: usedAt }).where('id', '=', contextId).execute();
  return usedAt < before;
}

/**
 * Returns false if the conversation is in use. A request that wants to add a message waits here, and then finds that the conversation is
 * gone.
 */
async function lockThread({ db, dialect }: Tx, contextId: string): Promise<boolean> {
  if (dialect === 'sqlite') return true;
  const row = db.selectFrom('threads').select('id').where('id', '=', contextId);
  return (await row.forUpdate().skipLocked().executeTakeFirst()) !== undefined;
}

interface Use {
  /** True if a run is running, a call waits, or an answer or a message has not been read yet. */
  readonly isBusy: boolean;
  readonly usedAt: number;
}

/** This is one statement: an answer turns a waiting call into a waiting event, and must not be missed in between. */
export async function lastUse(db: Kysely<Tables>, contextId: string): Promise<Use | undefined> {
  const row = await db
    .selectFrom('contexts')
    .select(['contexts.created_at'])
    .select(({ selectFrom, exists, or }) => [
      or([
        exists(selectFrom('runs').select('id').where('thread_id', '=', contextId).where('status', '=', 'running')),
        exists(
          selectFrom('inbox_events')
            .select('id')
            .where('thread_id', '=', contextId)
            .where('status', 'in', ['pending', 'claimed']),
        ),
        exists(selectFrom('calls').select('id').where('thread_id', '=', contextId).where(IS_PENDING)),
      ]).as('is_busy'),
      selectFrom('runs')
        .select(({ fn }) => fn.max('ended_at').as('at'))
        .where('thread_id', '=', contextId)
        .as('run_at'),
      selectFrom('inbox_events')
        .select(({ fn }) => fn.max('created_at').as('at'))
        .where('thread_id', '=', contextId)
        .as('event_at'),
    ])
    .where('contexts.id', '=', contextId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const usedAt = Math.max(row.created_at, Number(row.run_at ?? 0), Number(row.event_at ?? 0));
  return { isBusy: Boolean(row.is_busy), usedAt };
}
