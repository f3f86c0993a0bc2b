import type { Kysely } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import type { Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import { invalid } from '../entities/invalid.ts';
import {
  type DamagedRow,
  damagedRow,
  type Page,
  type PageOptions,
  pageLimit,
  textCursor,
  withDamaged,
} from '../entities/page.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import type { ListedTool, ToolSource, ToolSourceName } from './listed-tool.ts';
import { findToolRow } from './stored-tool.ts';
import { agentsDefinedBy, agentsUsing, type RegisteredSubAgent, registeredSubAgents } from './used-by.ts';

export interface ToolFilter extends PageOptions {
  readonly source?: ToolSourceName | undefined;
  /** Default: the tools of all projects. */
  readonly view?: View | undefined;
}

/**
 * A tool with the agents that name it, themselves or through sub-agents, or that have its definition. Every agent has the built-in tools
 * without naming them.
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
  { source, view = EVERYTHING, ...page }: ToolFilter,
): Promise<Page<UsedTool>> {
  const limit = pageLimit(page.limit);
  const after = readCursor(page.cursor);
  const outside = after.part === 'api' || source === 'api' ? [] : await listOutside(sources, view);
  const wanted = outside.filter((one) => one.id > after.id && (source === undefined || one.source === source));
  const rows =
    source === undefined || source === 'api'
      ? await rowsAfter(db, view, {
          id: after.part === 'api' ? after.id : '',
          limit: limit + 1 - Math.min(wanted.length, limit),
        })
      : [];
  const all: readonly Listable[] = [
    ...wanted.slice(0, limit + 1).map((one) => ({ cursor: `other:${one.id}`, describe: async () => one })),
    ...rows.map((row) => ({ cursor: `api:${row.id}`, describe: () => describe(row) })),
  ];
  const shown = all.slice(0, limit);
  const { items, damaged } = await describeAll(shown);
  const used = withDamaged({ items: await withUses(db, items, view) }, damaged);
  const last = shown.at(-1);
  return all.length <= limit || last === undefined ? used : { ...used, next: last.cursor };
}

interface Listable {
  readonly cursor: string;
  readonly describe: () => Promise<ListedTool>;
}

async function describeAll(tools: readonly Listable[]) {
  const items: ListedTool[] = [];
  const damaged: DamagedRow[] = [];
  for (const { cursor, describe } of tools)
    try {
      items.push(await describe());
    } catch (error) {
      damaged.push(damagedRow(cursor.slice(cursor.indexOf(':') + 1), error));
    }
  return { items, damaged };
}

/** Finds one tool by id or name. */
export async function getTool(
  db: Kysely<Tables>,
  { sources, describe }: ToolCatalog,
  nameOrId: string,
  view: View = EVERYTHING,
): Promise<UsedTool> {
  const outside = (await listOutside(sources, view)).find(({ id }) => id === nameOrId);
  // A tool of the registry may have the name of a built-in tool, and replaces it.
  const row =
    outside === undefined || outside.source === 'built-in' ? await findToolRow(db, nameOrId, view.project) : undefined;
  const found = row === undefined ? outside : await describe(row);
  if (found === undefined) throw notFound('tool', nameOrId);
  const [used] = await withUses(db, [found], view);
  return used ?? { ...withoutDefault(found), usedBy: [] };
}

/** Tools outside the registry that the caller can see: those that all projects share, and those of MCP servers of its project. */
export async function listOutside(sources: readonly ToolSource[], view: View): Promise<readonly ListedTool[]> {
  const lists = await Promise.all(sources.map((one) => one.list()));
  const isVisible = ({ project = view.project }: ListedTool): boolean => (view.project ?? project) === project;
  return lists
    .flat()
    .filter(isVisible)
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

async function rowsAfter(
  db: Kysely<Tables>,
  view: View,
  { id, limit }: { readonly id: string; readonly limit: number },
): Promise<readonly ToolRow[]> {
  const rows = db.selectFrom('tools').selectAll().where('id', '>', id).where(inView(view, 'tools'));
  return await rows.orderBy('id').limit(limit).execute();
}

async function withUses(db: Kysely<Tables>, tools: readonly ListedTool[], view: View): Promise<readonly UsedTool[]> {
  const named = tools.filter(({ definition }) => definition === undefined);
  const subAgents = named.length === 0 ? [] : await registeredSubAgents(db, view.project);
  const naming = new Map(named.map((one) => [one, namingTools(one, subAgents)]));
  const references = [...naming.values()].flat().flatMap(({ id, name }) => [id, name]);
  const uses = await agentsUsing(db, [...new Set(references)], view);
  const definitions = [...new Set(tools.flatMap(({ definition }) => definition ?? []))];
  const defined = await agentsDefinedBy(db, definitions, view);
  return tools.map((one) => {
    const own =
      one.definition === undefined
        ? uses.filter(({ reference, project }) => naming.get(one)?.some((tool) => isNamed(tool, reference, project)))
        : defined.filter(({ reference }) => reference === one.definition);
    const byId = new Map(own.map(({ agentId, agentName }) => [agentId, { id: agentId, name: agentName }]));
    return { ...withoutDefault(one), usedBy: [...byId.values()] };
  });
}

type NamedTool = Pick<ListedTool, 'id' | 'name' | 'project'>;

/** The tool, and the sub-agents of the registry that name it, or that name such a sub-agent. */
function namingTools(tool: ListedTool, subAgents: readonly RegisteredSubAgent[]): readonly NamedTool[] {
  const found: NamedTool[] = [tool];
  // The loop also visits what is added while it runs.
  for (const one of found)
    for (const { row, references } of subAgents) {
      const { id, name, project_id: project } = row;
      const isNew = found.every((other) => other.id !== id);
      if (isNew && references.some((reference) => isNamed(one, reference, project))) found.push({ id, name, project });
    }
  return found;
}

/** True if the reference, which something of this project has, names the tool. */
function isNamed(tool: NamedTool, reference: string, project: string): boolean {
  return reference === tool.id || (reference === tool.name && (tool.project ?? project) === project);
}

/** As everywhere, the project `default` is not named. */
function withoutDefault({ project, ...one }: ListedTool): ListedTool {
  return project === undefined || project === DEFAULT_PROJECT ? one : { ...one, project };
}

/** A cursor names the part of the list it is in, because the parts have ids of different kinds. */
function readCursor(cursor: string | undefined): { readonly part: string; readonly id: string } {
  const text = textCursor(cursor);
  if (text === undefined) return { part: 'other', id: '' };
  const [, part = '', id = ''] = /^(other|api):(.+)$/s.exec(text) ?? [];
  if (part === '') throw invalid('cursor', 'must be the `next` of an earlier page.');
  return { part, id };
}
