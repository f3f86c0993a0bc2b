import { type RawBuilder, sql } from 'kysely';

/** A condition on `grants`: it has not been revoked, has not expired, and its run has not ended. */
export function isActive(now: number): RawBuilder<boolean> {
  return sql<boolean>`(grants.ended_at is null and (grants.expires_at is null or grants.expires_at > ${now})
    and (grants.lasts <> 'run' or ${RUN_GOES_ON}))`;
}

/** The run that asked still works, or the approval waits for its run, or has it. */
const RUN_GOES_ON: RawBuilder<boolean> = sql<boolean>`(
  exists (select 1 from runs where runs.id = grants.run_id and runs.status = 'running')
  or exists (select 1 from inbox_events where inbox_events.thread_id = grants.thread_id
    and inbox_events.event_id = 'tool_result:' || grants.call_id || ':decision'
    and inbox_events.status in ('pending', 'claimed')))`;

/** A condition on `grants` for a run: it asked for the approval, or it has the event of the approval. */
export function isOfRun(runId: string): RawBuilder<boolean> {
  return sql<boolean>`(grants.run_id = ${runId} or exists (select 1 from inbox_events
    where inbox_events.thread_id = grants.thread_id and inbox_events.run_id = ${runId}
    and inbox_events.event_id = 'tool_result:' || grants.call_id || ':decision'))`;
}
