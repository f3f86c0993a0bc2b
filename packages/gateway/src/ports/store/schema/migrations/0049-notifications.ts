import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/** What people are notified of, and whether they were. tables.ts explains the columns. */
export function notifications(dialect: Dialect): Migration {
  const { text } = typesOf(dialect);
  return {
    async up(db) {
      const statements = [
        `create table notify_events (
    id ${text} primary key,
    event ${text} not null,
    agent_id ${text} not null,
    run_id ${text},
    call_id ${text},
    round bigint not null,
    scope ${text},
    scope_id ${text},
    due_at bigint not null
  )`,
        'create index notify_events_due on notify_events (due_at, id)',
        `create table notifications (
    id ${text} primary key,
    project_id ${text} not null,
    target ${text} not null,
    event_id ${text} not null,
    event ${text} not null,
    agent_id ${text},
    run_id ${text},
    call_id ${text},
    round bigint not null,
    scope ${text},
    scope_id ${text},
    entity_id ${text},
    status ${text} not null,
    attempts bigint not null,
    next_at bigint,
    error ${text},
    created_at bigint not null,
    sent_at bigint,
    link_expires_at bigint,
    link_used_at bigint
  )`,
        'create index notifications_due on notifications (target, next_at) where next_at is not null',
        'create index notifications_by_project on notifications (project_id, id)',
        'create index notifications_of_agent on notifications (agent_id, event, created_at)',
        // Values of this column must not be copied into the statistics of the planner: see 0047-erasures.ts.
        ...(dialect === 'postgres' ? ['alter table notifications alter column error set statistics 0'] : []),
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
