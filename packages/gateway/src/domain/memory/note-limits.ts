import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type AgentLimits, type AgentLimitsInput, resolveAgentLimits } from '../../config/agent-limits.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { ApiError, notFound } from '../api-error.ts';
import { isId } from '../entities/column-text.ts';
import { tooLarge } from '../entities/invalid.ts';

/**
 * How many goals, memories and plans the agent may keep, and how long each may be, by its current configuration. `defaults` are the limits
 * of agents that set none.
 */
export async function noteLimits(
  db: Kysely<Tables>,
  agentId: string,
  defaults: AgentLimitsInput = {},
): Promise<AgentLimits> {
  const agent = isId(agentId)
    ? await db.selectFrom('agents').select('config').where('id', '=', agentId).executeTakeFirst()
    : undefined;
  if (agent === undefined) throw notFound('agent', agentId);
  return resolveAgentLimits(fromJson<Partial<AgentConfig>>(agent.config).limits, defaults);
}

/** `kept` counts existing notes, `added` new ones. */
export function assertRoom(what: string, { kept, added, max }: { kept: number; added: number; max: number }): void {
  if (added === 0 || kept + added <= max) return;
  throw new ApiError(
    'too_many',
    `The limit is ${max} ${what}. There are ${kept}, and this call adds ${added}. Delete some, or overwrite one by its key.`,
    { details: { most: max, kept, added } },
  );
}

export function assertLength(path: string, text: string, max: number): void {
  if (text.length > max) throw tooLarge(path, { limit: max, came: text.length, unit: 'characters' });
}

/** Refuses the whole batch if a key is unknown, and tells the model which one. */
export function assertAllKnown(what: string, keys: readonly string[], known: ReadonlySet<string>): void {
  const unknown = keys.filter((key) => !known.has(key));
  if (unknown.length === 0) return;
  const named = unknown.map((key) => `"${key}"`).join(', ');
  throw new ApiError('not_found', `There is no ${what} ${named}. Nothing was deleted.`, {
    details: { keys: unknown },
  });
}
