import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { newId } from '../../src/domain/new-id.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import type { PendingCallRow, PlanRow, RunRow, TranscriptEntryRow } from '../../src/ports/store/tables.ts';

/** Rows that cycles leave, without a cycle. */
export async function insertRun(tx: Tx, given: Partial<RunRow> & { thread_id: string }): Promise<string> {
  const row: RunRow = {
    id: newId(),
    trigger: '{}',
    status: 'running',
    stop: null,
    cycle_no: 1,
    usage: null,
    epoch: 1,
    config_version: 1,
    attempts: 0,
    cancel_requested_at: null,
    active_in: null,
    taken_seq: 0,
    created_at: 1,
    ended_at: null,
    settings: null,
    answer: null,
    ...given,
  };
  await tx.db.insertInto('runs').values(row).execute();
  return row.id;
}

export async function insertEntry(tx: Tx, given: Omit<TranscriptEntryRow, 'created_at'>): Promise<void> {
  await tx.db
    .insertInto('transcript_entries')
    .values({ created_at: 1, ...given })
    .execute();
}

export async function insertPendingCall(
  tx: Tx,
  given: Partial<Insertable<PendingCallRow>> & { call_id: string; agent_id: string },
): Promise<void> {
  await tx.db
    .insertInto('pending_calls')
    .values({
      run_id: 'run',
      space_id: null,
      tool_name: 'confirm',
      kind: 'result',
      input: '{}',
      display: null,
      answered_by: null,
      result_schema: null,
      status: 'pending',
      result: null,
      result_hash: null,
      resolved_by: null,
      late_answers: null,
      expires_at: null,
      created_at: 1,
      resolved_at: null,
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
