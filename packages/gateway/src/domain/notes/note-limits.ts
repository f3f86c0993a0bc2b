import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type AgentLimits, resolveAgentLimits } from '../../config/agent-limits.ts';
import { fromJson } from '../../ports/store/json.ts';
import type { Tables } from '../../ports/store/tables.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { tooLarge } from '../entities/invalid.ts';

/** How many goals, memories and plans the agent may keep, and how long each may be, as it is configured now. */
export async function noteLimits(db: Kysely<Tables>, agentId: string): Promise<AgentLimits> {
  const agent = isId(agentId)
    ? await db.selectFrom('agents').select('config').where('id', '=', agentId).executeTakeFirst()
    : undefined;
  if (agent === undefined) throw notFound('agent', agentId);
  return resolveAgentLimits(fromJson<Partial<AgentConfig>>(agent.config).limits);
}

/** `kept` are there already; `added` are new. */
export function assertRoom(what: string, { kept, added, most }: { kept: number; added: number; most: number }): void {
  if (added === 0 || kept + added <= most) return;
  throw new ApiError(
    422,
    'too_many',
    `The limit is ${most} ${what}. There are ${kept}, and this call adds ${added}. Delete some, or overwrite one by its key.`,
    { details: { most, kept, added } },
  );
}

export function assertLength(path: string, text: string, most: number): void {
  if (text.length > most) throw tooLarge(path, { limit: most, came: text.length, unit: 'characters' });
}

/** A batch that says "all of them or none" to a model that mistyped one. */
export function assertAllKnown(what: string, keys: readonly string[], known: ReadonlySet<string>): void {
  const unknown = keys.filter((key) => !known.has(key));
  if (unknown.length === 0) return;
  const named = unknown.map((key) => `"${key}"`).join(', ');
  throw new ApiError(404, 'not_found', `There is no ${what} ${named}. Nothing was deleted.`, {
    details: { keys: unknown },
  });
}
