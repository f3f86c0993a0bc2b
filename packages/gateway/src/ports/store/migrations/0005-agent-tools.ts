import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { fromJson } from '../json.ts';

/**
 * Which agents name which tools. The configurations say so too, but to find the agents that use a tool, all of them
 * would have to be read.
 */
export const agentTools: Migration = {
  // biome-ignore lint/suspicious/noExplicitAny: a migration knows the tables as they were, and not as they are.
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('agent_tools')
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('reference', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('agent_tools_pk', ['agent_id', 'reference'])
      .execute();
    await db.schema.createIndex('agent_tools_by_reference').on('agent_tools').column('reference').execute();
    const agents = await db.selectFrom('agents').select(['id', 'config']).where('status', '!=', 'deleted').execute();
    for (const { id, config } of agents) {
      const { tools = [] } = fromJson<{ tools?: readonly unknown[] }>(config);
      const rows = tools.flatMap((one) => (typeof one === 'string' ? [{ agent_id: id, reference: one }] : []));
      if (rows.length > 0) await db.insertInto('agent_tools').values(rows).execute();
    }
  },
};
