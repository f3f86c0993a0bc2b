import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Of the tokens that sub-agents wrote, those of reasoning. */
export function reasoningTokens(): Migration {
  return {
    async up(db) {
      await sql.raw('alter table nested_usage add column reasoning_tokens bigint not null default 0').execute(db);
    },
  };
}
