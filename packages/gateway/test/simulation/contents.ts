import type { WorldDatabase } from './memory-database.ts';

/** What an agent can have, and the rows that show that it was used in a world. */
const ROWS = {
  spaces: 'select 1 from spaces',
  approvals: "select 1 from calls where wait_kind = 'approval'",
  answers: 'select 1 from calls where answer is not null',
  plans: "select 1 from inbox_events where type = 'plan'",
  conversations: "select 1 from threads where kind <> 'agent'",
  machines: "select 1 from calls where tool_name = 'transition_back' and outcome_status = 'ok'",
  'sub-agents': 'select 1 from sub_agent_turns',
  sessions: "select 1 from calls where tool_name in ('charge', 'record', 'transfer') and outcome_status = 'ok'",
  files: 'select 1 from files',
  compaction: "select 1 from transcript_entries where kind = 'compaction'",
  deletion: "select 1 from agents where status = 'deleted'",
  projects: "select 1 from agents where project_id <> 'default'",
  'spend limits': 'select 1 from spend_reached',
  grants: 'select 1 from calls where grant_id is not null',
} as const;

/** How often a world has each of them. */
export function contentsOf({ raw }: WorldDatabase): readonly (readonly [name: string, count: number])[] {
  return Object.entries(ROWS).map(([name, sql]) => [name, raw.prepare(sql).all().length]);
}
