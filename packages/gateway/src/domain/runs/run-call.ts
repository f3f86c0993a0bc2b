import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import { type CallStatus, callStatus } from '../calls/call-status.ts';
import { isId } from '../entities/column-text.ts';
import { getRun } from './run.ts';

/** A call of a run with its full stored output, including the part that was too large to be shown. */
export interface RunCall {
  readonly callId: string;
  readonly runId: string;
  readonly toolName: string;
  readonly status: CallStatus;
  /** Missing until the call is settled. */
  readonly outcome?: unknown;
  /** The grant that let it run without waiting for approval. */
  readonly grantId?: string;
  readonly createdAt: number;
  readonly settledAt?: number;
}

export async function getRunCall(db: Kysely<Tables>, runId: string, callId: string): Promise<RunCall> {
  await getRun(db, runId);
  const row = isId(callId)
    ? await db.selectFrom('calls').selectAll().where('id', '=', callId).where('run_id', '=', runId).executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound('call', callId);
  return {
    callId: row.id,
    runId: row.run_id,
    toolName: row.tool_name,
    status: callStatus(row),
    ...(row.outcome === null ? {} : { outcome: fromJson(row.outcome) }),
    ...(row.grant_id === null ? {} : { grantId: row.grant_id }),
    createdAt: row.created_at,
    ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
  };
}
