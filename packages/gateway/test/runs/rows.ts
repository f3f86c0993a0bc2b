import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { newId } from '../../src/domain/new-id.ts';
import type { CallRow, PlanRow, RunRow, TranscriptEntryRow } from '../../src/ports/store/schema/tables.ts';
import type { Tx } from '../../src/ports/store/store.ts';

/** Inserts rows as runs leave them, without a run. */
export async function insertRun(tx: Tx, given: Partial<RunRow> & { thread_id: string }): Promise<string> {
  const id = given.id ?? newId();
  const row: RunRow = {
    id,
    turn_id: id,
    trigger: '[]',
    status: 'running',
    stop: null,
    number: 1,
    usage: null,
    epoch: 1,
    config_version: 1,
    attempts: 0,
    cancel_requested_at: null,
    active_in: null,
    taken_seq: 0,
    owner: null,
    attempt: 1,
    retry_of: null,
    takeovers: null,
    created_at: 1,
    ended_at: null,
    mode: null,
    settings: null,
    answer: null,
    entity_id: null,
    ...given,
  };
  await tx.db.insertInto('runs').values(row).execute();
  return row.id;
}

export async function insertEntry(
  tx: Tx,
  given: Omit<TranscriptEntryRow, 'created_at' | 'origin_run_id'>,
): Promise<void> {
  await tx.db
    .insertInto('transcript_entries')
    .values({ created_at: 1, ...given })
    .execute();
}

/** A call that waits for its result. */
export async function insertPendingCall(
  tx: Tx,
  given: Partial<Insertable<CallRow>> & { id: string; agent_id: string },
): Promise<void> {
  await tx.db
    .insertInto('calls')
    .values({
      thread_id: given.agent_id,
      run_id: 'run',
      step: 1,
      index: 0,
      tool_name: 'confirm',
      input: '{}',
      status: 'pending',
      idempotency_key: given.id,
      created_at: 1,
      wait_kind: 'result',
      wait_status: 'pending',
      waiting_since: 1,
      ...given,
    })
    .execute();
}

export async function insertPlan(tx: Tx, given: Partial<PlanRow> & { agent_id: string }): Promise<void> {
  await tx.db
    .insertInto('plans')
    .values({
      id: randomUUID(),
      key: 'plan',
      name: '"plan"',
      instruction: '"do"',
      cron: null,
      at: 1,
      time_zone: 'UTC',
      misfire: 'once',
      next_at: 1,
      last_at: null,
      created_at: 1,
      updated_at: 1,
      ...given,
    })
    .execute();
}
