import { LastcallError } from '@lastcall/core';
import type { Machine } from '@lastcall/machines';
import type { Kysely } from 'kysely';
import type { AgentConfig } from '../../config/agent-config.ts';
import { definitionNamed } from '../../config/definitions.ts';
import { ApiError } from '../../domain/api-error.ts';
import { loadTranscriptRows } from '../../domain/transcript/load-transcript.ts';
import type { SessionState } from '../../domain/transcript/restore-session.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import { restoreMachine } from '../run/restore-machine.ts';
import type { Registry } from '../toolset/registry.ts';

/**
 * The machine of an agent or of one of its conversations, as it is stored. Throws if the agent is no machine, or if what is stored does not
 * fit its charter.
 */
export async function readMachine(
  db: Kysely<Tables>,
  { definitions = {} }: Pick<Registry, 'definitions'>,
  { agent, threadId }: { readonly agent: AgentRow; readonly threadId: string },
): Promise<Machine> {
  const { definition: name } = fromJson<AgentConfig>(agent.config);
  const machine = name === undefined ? undefined : definitionNamed(name, definitions)?.machine;
  if (machine === undefined)
    throw new ApiError('no_machine', `The agent "${agent.name}" is no machine: its definition has no charter.`);
  const thread = await db.selectFrom('threads').select('state').where('id', '=', threadId).executeTakeFirst();
  const stored = thread?.state ?? null;
  const state = stored === null ? undefined : fromJson<SessionState>(stored);
  const rows = await loadTranscriptRows(db, threadId);
  try {
    return restoreMachine(machine, { rows, state });
  } catch (error) {
    if (!(error instanceof LastcallError) || error.code !== 'stored_machine') throw error;
    throw new ApiError('no_machine', error.message, { cause: error });
  }
}
