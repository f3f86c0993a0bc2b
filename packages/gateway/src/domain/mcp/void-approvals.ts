import type { AgentConfig } from '../../config/agent-config.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/json.ts';
import { ApiError } from '../api-error.ts';
import { answer } from '../pending/answer-call.ts';
import { IS_PENDING } from '../pending/is-pending.ts';

/**
 * Denies the calls that wait for approval and that `isOf` says are of a tool whose definition has changed: what somebody
 * was asked to approve is no longer what would run.
 */
export async function voidApprovals(
  services: Services,
  isOf: (call: { readonly toolName: string; readonly config: AgentConfig }) => boolean,
): Promise<void> {
  const waiting = await services.store.db
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .select(['calls.id', 'calls.run_id', 'calls.tool_name', 'agents.config'])
    .where(IS_PENDING)
    .where('calls.wait_kind', '=', 'approval')
    .execute();
  for (const { id: callId, run_id: runId, tool_name: toolName, config } of waiting)
    if (isOf({ toolName, config: fromJson<AgentConfig>(config) })) await deny(services, { callId, runId });
}

async function deny(services: Services, call: { readonly callId: string; readonly runId: string }): Promise<void> {
  try {
    await answer(services, { ...call, answer: { deny: CHANGED }, by: { key: true } });
  } catch (error) {
    // Somebody else has just answered it. A tool that is held is not run, whatever the answer.
    if (!(error instanceof ApiError)) throw error;
  }
}

const CHANGED =
  'The definition of the tool has changed since the approval was asked for, and waits for approval itself.';
