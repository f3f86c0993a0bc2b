import type { Kysely } from 'kysely';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { findAgentNamed } from '../agents/find-agent-named.ts';
import { notFound } from '../api-error.ts';
import { inView, type View } from '../projects/view.ts';

/** What else limits a key. */
export interface KeyLimits {
  /** The ids of the agents that it may use. With it or with `spaces`, all other agents and spaces do not exist for it. */
  readonly agents?: readonly string[] | undefined;
  /** The ids of the spaces that it may use. */
  readonly spaces?: readonly string[] | undefined;
  /** The operations that it may use, e.g. `POST /chat`. Default: all that its scopes allow. */
  readonly paths?: readonly string[] | undefined;
  readonly rate?: RateLimit | undefined;
}

/** At most so many requests in any period of so many seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The limits as they are stored. Throws 404 for an agent or a space that is not in the project of the key. */
export async function toLimits(
  db: Kysely<Tables>,
  { agents, spaces, paths, rate }: KeyLimits,
  project: string | undefined,
): Promise<string | null> {
  const limits = { agents: agents && (await idsOf(db, agents, project)), spaces, paths, rate };
  await assertSpaces(db, spaces ?? [], project);
  return Object.values(limits).every((one) => one === undefined) ? null : toJson(limits);
}

export function fromLimits(json: string | null): KeyLimits {
  return json === null ? {} : fromJson<KeyLimits>(json);
}

/** A key that names agents or spaces cannot see any others of both. */
export function viewOfLimits({ agents, spaces }: KeyLimits): View {
  return agents === undefined && spaces === undefined ? {} : { agents: agents ?? [], spaces: spaces ?? [] };
}

/** Agents may be named by name too. A key keeps their ids: another agent may get the name. */
async function idsOf(
  db: Kysely<Tables>,
  agents: readonly string[],
  project: string | undefined,
): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const nameOrId of agents) ids.add((await findAgentNamed(db, nameOrId, { project })).id);
  return [...ids];
}

async function assertSpaces(db: Kysely<Tables>, ids: readonly string[], project: string | undefined): Promise<void> {
  if (ids.length === 0) return;
  const rows = await db
    .selectFrom('spaces')
    .select('id')
    .where('id', 'in', ids)
    .where(inView({ project }, 'spaces'))
    .execute();
  const missing = ids.find((id) => !rows.some((row) => row.id === id));
  if (missing !== undefined) throw notFound('space', missing);
}
