import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../../dialect.ts';
import { typesOf } from './0001-initial.ts';

/**
 * Runs of redriven events name the run that failed before. tables.ts explains the column.
 *
 * `calls.outcome_status` held the status of the outcome. Now it is how the call stands, in one word: see domain/calls/call-status.ts.
 * Outcomes are JSON that the gateway wrote, which begins with the status and the code.
 */
export function callStatuses(dialect: Dialect): Migration {
  return {
    async up(db) {
      const statements = [
        `alter table inbox_events add column redriven_from ${typesOf(dialect).text}`,
        ...['denied', 'expired'].map((code) => codeIs(code, code)),
        codeIs('unknown_outcome', 'unknown'),
        `update calls set outcome_status = 'unknown' where outcome_status = 'error' and outcome like '%"effect":"possible"%'`,
        // A call that was answered and not settled runs, or its denial, result or expiry is known.
        `update calls set outcome_status = case
    when wait_status = 'pending' then 'waiting'
    when wait_status in ('expired', 'cancelled') then wait_status
    when answer like '{"deny":%' then 'denied'
    when answer like '{"error":%' then 'error'
    when answer like '{"result":%' and wait_kind = 'result' then 'ok'
  end where outcome_status = 'pending'`,
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

function codeIs(code: string, status: string): string {
  return `update calls set outcome_status = '${status}' where outcome_status = 'error' and outcome like '{"status":"error","code":"${code}"%'`;
}
