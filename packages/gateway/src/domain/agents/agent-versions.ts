import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { numberCursor, type Page, type PageOptions, pageLimit, toPage } from '../entities/page.ts';

/** A configuration that an agent has or had. */
export interface AgentVersion {
  readonly version: number;
  readonly config: AgentConfig;
  readonly createdAt: number;
}

/** Stores the configuration under its version, so that a run can be shown with the one it had. */
export async function keepVersion(
  tx: Tx,
  { id, config_version, config }: Pick<AgentRow, 'id' | 'config_version' | 'config'>,
): Promise<void> {
  await tx.db
    .insertInto('agent_versions')
    .values({ agent_id: id, version: config_version, config, created_at: tx.now() })
    .execute();
}

/** Lists the configurations of an agent, newest first. */
export async function listVersions(
  db: Kysely<Tables>,
  agentId: string,
  page: PageOptions = {},
): Promise<Page<AgentVersion>> {
  const limit = pageLimit(page.limit);
  const before = numberCursor(page.cursor);
  let query = db.selectFrom('agent_versions').selectAll().where('agent_id', '=', agentId);
  if (before !== undefined) query = query.where('version', '<', before);
  const rows = await query
    .orderBy('version', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, {
    limit,
    cursorOf: ({ version }) => String(version),
    toItem: ({ version, config, created_at }) => ({
      version,
      config: fromJson<AgentConfig>(config),
      createdAt: created_at,
    }),
  });
}
