import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';

/**
 * What a caller can see. Everything else does not exist for it: every list and every lookup of the API is filtered with a view, and
 * `transport/http/project-rules.ts` says for each path how.
 */
export interface View {
  /** Undefined: all projects. */
  readonly project?: string | undefined;
  /** Set for a token: only the project of this entity. It counts for names of agents. */
  readonly ofEntity?: string | undefined;
  /** Only these agents and what belongs to them, or undefined if neither agents nor spaces are limited. */
  readonly agents?: readonly string[] | undefined;
  /** Only these spaces. Set whenever `agents` is set. */
  readonly spaces?: readonly string[] | undefined;
}

export const EVERYTHING: View = {};

/** True for a view of certain agents and spaces, whose holder cannot create anything beside them. */
export function isNarrow({ agents }: View): boolean {
  return agents !== undefined;
}

/** True if there is something that the view leaves out. */
export function isLimited(view: View): boolean {
  return view.project !== undefined || isNarrow(view);
}

/** The project that new things belong to. */
export function projectOf({ project }: View): string {
  return project ?? DEFAULT_PROJECT;
}

type Root = 'agents' | 'spaces' | 'entities' | 'tools' | 'mcp_tools' | 'api_keys' | 'evaluations';

/** A condition on a table whose rows name their project. */
export function inView(view: View, table: Root): RawBuilder<SqlBool> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const own = view.project === undefined ? [] : [sql`${column('project_id')} = ${view.project}`];
  const theirs =
    view.ofEntity === undefined
      ? []
      : [sql`${column('project_id')} = (select project_id from entities where entities.id = ${view.ofEntity})`];
  const listed = table === 'agents' ? view.agents : table === 'spaces' ? view.spaces : undefined;
  const named = listed === undefined ? [] : [among(column('id'), listed)];
  const met =
    table === 'entities' && isNarrow(view)
      ? [
          sql`${column('id')} in (select entity_id from memberships where left_at is null and ${among(sql.ref('space_id'), view.spaces ?? [])})`,
        ]
      : [];
  // A key for certain agents does not manage keys.
  const none = table === 'api_keys' && isNarrow(view) ? [sql`1 = 0`] : [];
  return all([...own, ...theirs, ...named, ...met, ...none]);
}

/** A condition on rows that are reached through an agent. `column` has the agent's id. */
export function throughAgents(view: View, column: string): RawBuilder<SqlBool> {
  return isLimited(view)
    ? sql<SqlBool>`${sql.ref(column)} in (select id from agents where ${inView(view, 'agents')})`
    : all([]);
}

function among(column: RawBuilder<unknown>, ids: readonly string[]): RawBuilder<SqlBool> {
  return ids.length === 0 ? sql`1 = 0` : sql`${column} in (${sql.join(ids)})`;
}

function all(conditions: readonly RawBuilder<unknown>[]): RawBuilder<SqlBool> {
  return conditions.length === 0 ? sql`1 = 1` : sql`(${sql.join([...conditions], sql` and `)})`;
}
