import type { AgentConfig } from '../../config/agent-config.ts';
import type { Services } from '../../ports/services.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import { ApiError } from '../api-error.ts';
import { answer } from '../calls/answer-call.ts';
import { IS_PENDING } from '../calls/is-waiting.ts';

/**
 * Denies the calls that wait for approval of a tool whose definition has changed, as `isOf` decides: the definition that a person
 * was asked to approve is no longer the one that would run.
 */
export async function voidApprovals(
  services: Pick<Services, 'store'>,
  isOf: (call: { readonly toolName: string; readonly config: AgentConfig; readonly project: string }) => boolean,
): Promise<void> {
  const waiting = await services.store.db
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .select(['calls.id', 'calls.run_id', 'calls.tool_name', 'agents.config', 'agents.project_id'])
    .where(IS_PENDING)
    .where('calls.wait_kind', '=', 'approval')
    .execute();
  for (const { id: callId, run_id: runId, tool_name: toolName, config, project_id } of waiting)
    if (isOf({ toolName, config: fromJson<AgentConfig>(config), project: project_id }))
      await deny(services, { callId, runId });
}

async function deny(
  services: Pick<Services, 'store'>,
  call: { readonly callId: string; readonly runId: string },
): Promise<void> {
  try {
    await answer(services, { ...call, answer: { deny: CHANGED }, by: { key: true } });
  } catch (error) {
    // Another answer came first. A held tool does not run, whatever the answer is.
    if (!(error instanceof ApiError)) throw error;
  }
}

const CHANGED =
  'The definition of the tool has changed since approval of this call was requested, and must be approved first.';
