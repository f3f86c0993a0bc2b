import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';
import { plainText } from './plain-text.ts';

/**
 * The last failure of an agent that was shown to the people of a space. Stream events are kept only for a while, and
 * people who open the space later must see it too. It is a separate table, so that a failing run does not wait for a
 * change of the member's row.
 */
export function agentFailures(dialect: Dialect): Migration {
  const text = plainText(dialect);
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('agent_failures')
        .addColumn('space_id', text, (column) => column.notNull())
        .addColumn('entity_id', text, (column) => column.notNull())
        .addColumn('run_id', text, (column) => column.notNull())
        .addColumn('text', text, (column) => column.notNull())
        .addColumn('retry_at', 'bigint')
        .addColumn('after_seq', 'bigint', (column) => column.notNull())
        .addColumn('failed_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('agent_failures_pk', ['space_id', 'entity_id'])
        .execute();
    },
  };
}
