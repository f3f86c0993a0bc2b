import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { namedTools } from '../../../../config/named-tools.ts';
import { fromJson } from '../json.ts';
import type { Tables } from '../tables.ts';

/** The tools that an agent names in its sub-agents are in `agent_tools` too. */
export function toolsOfSubAgents(): Migration {
  return {
    async up(db: Kysely<Tables>) {
      const agents = await db
        .selectFrom('agents')
        .select(['id', 'config'])
        .where('status', '!=', 'deleted')
        .where(sql<boolean>`config like '%"agentConfig":%'`)
        .execute();
      for (const { id, config } of agents) {
        const { tools } = fromJson<{ readonly tools?: unknown }>(config);
        const references = [...new Set(namedTools(tools, []).map(({ reference }) => reference))];
        if (references.length === 0) continue;
        await db
          .insertInto('agent_tools')
          .values(references.map((reference) => ({ agent_id: id, reference })))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    },
  };
}
