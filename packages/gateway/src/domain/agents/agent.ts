import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { COLUMNS } from '../../ports/store/schema/columns.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, AgentStatus, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import { notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { type Page, type PageOptions, pageLimit, textCursor, toPage } from '../entities/page.ts';
import { EVERYTHING, inView, type View } from '../projects/view.ts';
import { isOrdinary } from './tool-caller.ts';

/** An agent. It is also an entity. */
export interface Agent {
  /** The same id as its entity's. */
  readonly id: string;
  readonly entityId: string;
  readonly name: string;
  /** Absent for the project `default`. */
  readonly project?: string;
  readonly status: AgentStatus;
  readonly config: AgentConfig;
  /** Incremented by every change. A run keeps the version it started with. */
  readonly configVersion: number;
  readonly activeSpaceId?: string;
  readonly lastError?: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A deleted agent is not found. */
export async function getAgent(db: Kysely<Tables>, agentId: string): Promise<Agent> {
  return toAgent(await findAgent(db, agentId));
}

export async function findAgent(db: Kysely<Tables>, agentId: string): Promise<AgentRow> {
  const row = isId(agentId) ? (await findById(db, { agentId }))[0] : undefined;
  if (row === undefined) throw notFound('agent', agentId);
  return row;
}

/** The project of an agent, also of a deleted one. */
export async function findAgentProject(db: Kysely<Tables>, agentId: string): Promise<string> {
  const row = await db.selectFrom('agents').select('project_id').where('id', '=', agentId).executeTakeFirst();
  return row?.project_id ?? DEFAULT_PROJECT;
}

const findById = statement((db, { agentId }: Params<{ agentId: string }>) =>
  db.selectFrom('agents').select(COLUMNS.agents).where('id', '=', agentId).where('status', '!=', 'deleted'),
);

export interface AgentFilter extends PageOptions {
  /** Default: all but deleted ones. */
  readonly status?: AgentStatus | undefined;
  /** Default: all of them. */
  readonly view?: View | undefined;
}

/** Lists agents, oldest first. */
export async function listAgents(db: Kysely<Tables>, filter: AgentFilter = {}): Promise<Page<Agent>> {
  const limit = pageLimit(filter.limit);
  const after = textCursor(filter.cursor);
  let query = db
    .selectFrom('agents')
    .selectAll()
    .where(isOrdinary)
    .where(inView(filter.view ?? EVERYTHING, 'agents'));
  query =
    filter.status === undefined ? query.where('status', '!=', 'deleted') : query.where('status', '=', filter.status);
  if (after !== undefined) query = query.where('id', '>', after);
  const rows = await query
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return toPage(rows, { limit, cursorOf: ({ id }) => id, toItem: toAgent });
}

/** Leaves out the tag: anyone who knows it can imitate the gateway's frames. */
export function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    entityId: row.entity_id,
    name: row.name,
    ...(row.project_id === DEFAULT_PROJECT ? {} : { project: row.project_id }),
    status: row.status,
    config: fromJson<AgentConfig>(row.config),
    configVersion: row.config_version,
    ...(row.active_space_id === null ? {} : { activeSpaceId: row.active_space_id }),
    ...(row.last_error === null ? {} : { lastError: fromJson(row.last_error) }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
