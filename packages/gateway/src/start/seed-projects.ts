import type { ProjectSeed } from '../config/project-seed.ts';
import { createProject, updateProject } from '../domain/projects/project.ts';
import { toJson } from '../ports/store/schema/json.ts';
import type { Tx } from '../ports/store/store.ts';

/**
 * Creates the projects that the file names, and sets their names and limits to what it says. One that was deleted exists again. Others
 * are left as they are. Call it with the lock of the seed.
 */
export async function seedProjects(tx: Tx, projects: readonly ProjectSeed[]): Promise<void> {
  for (const { id, name = id, spend } of projects) {
    const known = await tx.db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst();
    if (known === undefined) {
      await createProject(tx, { id, name, spend });
      continue;
    }
    if (known.deleted_at !== null)
      await tx.db.updateTable('projects').set({ deleted_at: null }).where('id', '=', id).execute();
    if (known.name !== name || known.spend !== (spend === undefined ? null : toJson(spend)))
      await updateProject(tx, id, { name, spend: spend ?? null });
  }
}
