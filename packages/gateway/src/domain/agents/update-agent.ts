import { isDeepStrictEqual } from 'node:util';
import type { AgentConfigInput } from '../../config/agent-config.ts';
import type { Offered } from '../../config/known-tool.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Tx } from '../../ports/store/store.ts';
import { ApiError } from '../api-error.ts';
import { noteToolUses } from '../tools/used-by.ts';
import { releaseHeld } from '../usage/hold-events.ts';
import { type Agent, toAgent } from './agent.ts';
import { keepVersion } from './agent-versions.ts';
import { checkAgentConfig, lockNamedTools, withChanges } from './check-agent-config.ts';
import { lockAgent } from './lock-agent.ts';

export interface AgentUpdate {
  readonly agentId: string;
  /** The fields to change. Null removes one; the others stay. */
  readonly config: Readonly<Record<string, unknown>>;
  /** True: `config` is the whole configuration, and the old one is not read. Default: false. */
  readonly replaces?: boolean | undefined;
  /** What it may name. Default: not checked until the run. */
  readonly offered?: Offered | undefined;
  /** The version that the change is based on. If the agent has another version, the change is refused. Default: any. */
  readonly ifVersion?: number | undefined;
}

/**
 * Changes the configuration from the next run on. An invalid change is refused as a whole, and the old configuration
 * stays. One that changes no value makes no version, but an invalid agent is tried again.
 */
export async function updateAgent(tx: Tx, update: AgentUpdate): Promise<Agent> {
  await lockNamedTools(tx, update.config);
  const before = await lockAgent(tx, update.agentId, 'change');
  if (update.ifVersion !== undefined && update.ifVersion !== before.config_version)
    throw versionConflict(update.ifVersion, before.config_version);
  const base = update.replaces === true ? {} : fromJson<AgentConfigInput>(before.config);
  const config = await checkAgentConfig(tx, withChanges(base, update.config), {
    offered: update.offered,
    project: before.project_id,
  });
  const wasInvalid = before.status === 'invalid';
  const json = toJson(config);
  const isSame = isSameJson(json, before.config);
  const changed = {
    name: config.name,
    config: json,
    config_version: before.config_version + (isSame ? 0 : 1),
    ...(wasInvalid ? { status: 'active' as const, last_error: null } : {}),
    ...(isSame && !wasInvalid ? {} : { updated_at: tx.now() }),
  };
  await tx.db.updateTable('agents').set(changed).where('id', '=', before.id).execute();
  if (!isSame) await keepVersion(tx, { ...before, ...changed });
  await tx.db.updateTable('entities').set({ display_name: config.name }).where('id', '=', before.entity_id).execute();
  await noteToolUses(tx, before.id, config);
  // A spend limit may have been raised.
  await releaseHeld(tx, before.id);
  // Events that waited for a configuration that works can run now.
  if (wasInvalid) tx.wake(before.id);
  return toAgent({ ...before, ...changed });
}

/** A damaged text is the same as no other. */
function isSameJson(json: string, stored: string): boolean {
  try {
    return isDeepStrictEqual(fromJson(json), fromJson(stored));
  } catch {
    return false;
  }
}

/** Two people who edit at the same time must not undo each other's changes unknowingly. */
function versionConflict(expected: number, configVersion: number): ApiError {
  const message = `The agent's configuration is at version ${configVersion}, not ${expected}. Read it again and repeat the change.`;
  return new ApiError('version_conflict', message, { details: { configVersion } });
}
