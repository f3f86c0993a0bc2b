import type { Kysely } from 'kysely';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import { invalid } from '../entities/invalid.ts';
import { type Page, type PageOptions, pageLimit, textCursor } from '../entities/page.ts';
import type { ListedTool, ToolSource, ToolSourceName } from './listed-tool.ts';
import { findToolRow } from './stored-tool.ts';
import { agentsDefinedBy, agentsUsing } from './used-by.ts';

export interface ToolFilter extends PageOptions {
  readonly source?: ToolSourceName | undefined;
}

/**
 * A tool with the agents that name it, or that have its definition. Every agent has the built-in tools without naming them.
 */
export interface UsedTool extends ListedTool {
  readonly usedBy: readonly { readonly id: string; readonly name: string }[];
}

export interface ToolCatalog {
  readonly sources: readonly ToolSource[];
  /** Describes a tool of the registry. */
  describe(row: ToolRow): Promise<ListedTool>;
}

/** Lists all tools: those outside the registry first, by name, then those of the registry, oldest first. */
export async function listTools(
  db: Kysely<Tables>,
  { sources, describe }: ToolCatalog,
  { source, ...page }: ToolFilter,
): Promise<Page<UsedTool>> {
  const limit = pageLimit(page.limit);
  const after = readCursor(page.cursor);
  const outside = after.part === 'api' || source === 'api' ? [] : await listOutside(sources);
  const wanted = outside.filter((one) => one.id > after.id && (source === undefined || one.source === source));
  const rows =
    source === undefined || source === 'api'
      ? await rowsAfter(db, after.part === 'api' ? after.id : '', limit + 1 - Math.min(wanted.length, limit))
      : [];
  const all = [...wanted.slice(0, limit + 1), ...(await Promise.all(rows.map(describe)))];
  const items = await withUses(db, all.slice(0, limit));
  const last = items.at(-1);
  if (all.length <= limit || last === undefined) return { items };
  return { items, next: `${last.source === 'api' ? 'api' : 'other'}:${last.id}` };
}

/** Finds one tool by id or name. */
export async function getTool(
  db: Kysely<Tables>,
  { sources, describe }: ToolCatalog,
  nameOrId: string,
): Promise<UsedTool> {
  const outside = (await listOutside(sources)).find(({ id }) => id === nameOrId);
  // A tool of the registry may have the name of a built-in tool, and replaces it.
  const row = outside === undefined || outside.source === 'built-in' ? await findToolRow(db, nameOrId) : undefined;
  const found = row === undefined ? outside : await describe(row);
  if (found === undefined) throw notFound('tool', nameOrId);
  const [used] = await withUses(db, [found]);
  return used ?? { ...found, usedBy: [] };
}

async function listOutside(sources: readonly ToolSource[]): Promise<readonly ListedTool[]> {
  const lists = await Promise.all(sources.map((one) => one.list()));
  return lists.flat().sort((one, other) => (one.id < other.id ? -1 : 1));
}

async function rowsAfter(db: Kysely<Tables>, id: string, limit: number): Promise<readonly ToolRow[]> {
  return await db.selectFrom('tools').selectAll().where('id', '>', id).orderBy('id').limit(limit).execute();
}

async function withUses(db: Kysely<Tables>, tools: readonly ListedTool[]): Promise<readonly UsedTool[]> {
  const named = tools.filter(({ definition }) => definition === undefined);
  const uses = await agentsUsing(db, [...new Set(named.flatMap(({ id, name }) => [id, name]))]);
  const definitions = [...new Set(tools.flatMap(({ definition }) => definition ?? []))];
  const defined = await agentsDefinedBy(db, definitions);
  return tools.map((one) => {
    const own =
      one.definition === undefined
        ? uses.filter(({ reference }) => reference === one.id || reference === one.name)
        : defined.filter(({ reference }) => reference === one.definition);
    const byId = new Map(own.map(({ agentId, agentName }) => [agentId, { id: agentId, name: agentName }]));
    return { ...one, usedBy: [...byId.values()] };
  });
}

/** A cursor names the part of the list it is in, because the parts have ids of different kinds. */
function readCursor(cursor: string | undefined): { readonly part: string; readonly id: string } {
  const text = textCursor(cursor);
  if (text === undefined) return { part: 'other', id: '' };
  const [, part = '', id = ''] = /^(other|api):(.+)$/s.exec(text) ?? [];
  if (part === '') throw invalid('cursor', 'must be the `next` of an earlier page.');
  return { part, id };
}
