import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { RegisteredTool } from '../../config/registered-tool.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';

/**
 * Finds tools of a project's registry by name or id. Unknown references are left out. Without a project, as for operators of the whole
 * gateway: by id in every project, and by name in the project `default`.
 */
export async function findToolRows(
  db: Kysely<Tables>,
  references: readonly string[],
  project: string | undefined,
): Promise<readonly ToolRow[]> {
  const usable = references.filter(isId);
  if (usable.length === 0) return [];
  return await db
    .selectFrom('tools')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb.and([eb('name', 'in', usable), eb('project_id', '=', project ?? DEFAULT_PROJECT)]),
        eb.and([eb('id', 'in', usable), ...(project === undefined ? [] : [eb('project_id', '=', project)])]),
      ]),
    )
    .orderBy('id')
    .execute();
}

/** One tool of the registry. If a name is also the id of another tool, the name counts. */
export async function findToolRow(
  db: Kysely<Tables>,
  nameOrId: string,
  project: string | undefined,
): Promise<ToolRow | undefined> {
  const rows = await findToolRows(db, [nameOrId], project);
  return rows.find(({ name }) => name === nameOrId) ?? rows[0];
}

/** A row as agents use it. */
export function toRegisteredTool({ id, version, config, project_id: project }: ToolRow): RegisteredTool {
  const own = project === DEFAULT_PROJECT ? {} : { project };
  return { ...fromJson<ToolConfig>(config), kind: 'configured', id, version, ...own };
}

/** The ids and names of all tools of a project's registry. Their configurations may be large. */
export async function listToolNames(
  db: Kysely<Tables>,
  project: string,
): Promise<readonly Pick<ToolRow, 'id' | 'name'>[]> {
  return await db.selectFrom('tools').select(['id', 'name']).where('project_id', '=', project).execute();
}

/** All tools of a project's registry, oldest first. */
export async function listToolRows(db: Kysely<Tables>, project: string): Promise<readonly ToolRow[]> {
  return await db.selectFrom('tools').selectAll().where('project_id', '=', project).orderBy('id').execute();
}
