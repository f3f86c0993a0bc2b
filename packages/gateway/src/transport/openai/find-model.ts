import type { Kysely } from 'kysely';
import { findAgentNamed } from '../../domain/agents/find-agent-named.ts';
import { ApiError, isNotFound } from '../../domain/api-error.ts';
import { assertMayChat } from '../../domain/conversations/may-chat.ts';
import { invalid } from '../../domain/entities/invalid.ts';
import type { AgentRow, Tables } from '../../ports/store/schema/tables.ts';
import type { TurnCaller } from '../../runtime/chat/turn-request.ts';

/** The agent that a client names as the model. Throws 404 also for an agent that the client must not see. */
export async function findModel(db: Kysely<Tables>, model: string, caller: TurnCaller): Promise<AgentRow> {
  try {
    const agent = await findAgentNamed(db, model);
    await assertMayChat(db, { agentId: agent.id, name: model }, caller);
    return agent;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!isNotFound(error)) throw invalid('model', `"${model}" is the name of several agents: use the id.`);
    const message = `There is no agent "${model.slice(0, 100)}". GET /v1/models lists those that you may use.`;
    throw new ApiError('model_not_found', message, { details: { path: 'model' }, cause: error });
  }
}
