import type { Entry } from '@lastcall/core';
import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { isSpoken } from '../transcript/machine-rows.ts';
import { COMPACTION, fromEntryPayload } from '../transcript/transcript-row.ts';

/** A turn of a conversation that has begun, as it is stored. */
export interface StoredTurn {
  /** Its runs, in order. The first one's id is that of the turn. */
  readonly runIds: readonly string[];
  readonly entries: readonly Entry[];
  /** True while its last run is running. */
  readonly isOpen: boolean;
}

/** The newest turns of a conversation, oldest first. `before`: a run; only turns that began before its own. */
export async function listTurns(
  db: Kysely<Tables>,
  contextId: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<readonly StoredTurn[]> {
  let beginnings = db
    .selectFrom('runs')
    .select(['id', 'number'])
    .where('thread_id', '=', contextId)
    .whereRef('id', '=', 'turn_id')
    // Runs that are not saved belong to no turn.
    .where('answer', 'is', null);
  if (before !== undefined)
    beginnings = beginnings.where('number', '<', (eb) =>
      eb.selectFrom('runs as given').select('given.number').where('given.id', '=', before),
    );
  const found = (await beginnings.orderBy('number', 'desc').limit(limit).execute()).reverse();
  return await Promise.all(
    found.map(({ id, number: from }, index) =>
      readTurn(db, { contextId, turnId: id, from, until: found[index + 1]?.number }),
    ),
  );
}

interface TurnBounds {
  readonly contextId: string;
  readonly turnId: string;
  /**
   * The number of its first run, and that of the first run of the next turn, if there is one. Without these, all runs of the
   * conversation would be read.
   */
  readonly from: number;
  readonly until: number | undefined;
}

async function readTurn(db: Kysely<Tables>, { contextId, turnId, from, until }: TurnBounds): Promise<StoredTurn> {
  let ofTurn = db
    .selectFrom('runs')
    .select(['id', 'status'])
    .where('thread_id', '=', contextId)
    .where('number', '>=', from)
    .where('turn_id', '=', turnId)
    // A run that was not saved may have taken an answer to a call of the turn.
    .where('answer', 'is', null);
  if (until !== undefined) ofTurn = ofTurn.where('number', '<', until);
  const runs = await ofTurn.orderBy('number').execute();
  const runIds = runs.map(({ id }) => id);
  return { runIds, entries: await entriesOfRuns(db, runIds), isOpen: runs.at(-1)?.status === 'running' };
}

export async function entriesOfRuns(db: Kysely<Tables>, runIds: readonly string[]): Promise<readonly Entry[]> {
  // The only run of a turn may end without being saved while the turn is read.
  if (runIds.length === 0) return [];
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', 'in', runIds)
    .where('kind', '!=', COMPACTION)
    .orderBy('seq')
    .execute();
  return rows.map(({ payload }) => fromEntryPayload(payload).entry).filter(isSpoken);
}
