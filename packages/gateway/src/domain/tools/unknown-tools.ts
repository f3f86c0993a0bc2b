import type { Kysely } from 'kysely';
import type { ConfigProblem } from '../../config/config-problem.ts';
import type { NamedTool } from '../../config/named-tools.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { findToolRows } from './stored-tool.ts';

/** Returns a problem for each named tool that is neither known nor in the project's registry. */
export async function unknownTools(
  db: Kysely<Tables>,
  named: readonly NamedTool[],
  { isKnown, project }: { readonly isKnown: (reference: string) => boolean; readonly project: string },
): Promise<readonly ConfigProblem[]> {
  const open = named.filter(({ reference }) => !isKnown(reference));
  if (open.length === 0) return [];
  const rows = await findToolRows(
    db,
    open.map(({ reference }) => reference),
    project,
  );
  const isThere = (reference: string): boolean => rows.some(({ id, name }) => id === reference || name === reference);
  return open
    .filter(({ reference }) => !isThere(reference))
    .map(({ reference, path }) => ({ path, message: `names "${reference}", which is not a registered tool.` }));
}
