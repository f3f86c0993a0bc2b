import type { Kysely } from 'kysely';
import type { RegisteredTool } from '../../config/registered-tool.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';

/** Finds tools of the registry by name or id. Unknown references are left out. */
export async function findToolRows(db: Kysely<Tables>, references: readonly string[]): Promise<readonly ToolRow[]> {
  const usable = references.filter(isId);
  if (usable.length === 0) return [];
  return await db
    .selectFrom('tools')
    .selectAll()
    .where((eb) => eb.or([eb('name', 'in', usable), eb('id', 'in', usable)]))
    .orderBy('id')
    .execute();
}

/** One tool of the registry. If a name is also the id of another tool, the name counts. */
export async function findToolRow(db: Kysely<Tables>, nameOrId: string): Promise<ToolRow | undefined> {
  const rows = await findToolRows(db, [nameOrId]);
  return rows.find(({ name }) => name === nameOrId) ?? rows[0];
}

/** A row as agents use it. */
export function toRegisteredTool({ id, version, config }: ToolRow): RegisteredTool {
  return { ...fromJson<ToolConfig>(config), kind: 'configured', id, version };
}

/** The ids and names of all tools of the registry. Their configurations may be large. */
export async function listToolNames(db: Kysely<Tables>): Promise<readonly Pick<ToolRow, 'id' | 'name'>[]> {
  return await db.selectFrom('tools').select(['id', 'name']).execute();
}

/** All tools of the registry, oldest first. */
export async function listToolRows(db: Kysely<Tables>): Promise<readonly ToolRow[]> {
  return await db.selectFrom('tools').selectAll().orderBy('id').execute();
}
