import type { Kysely } from 'kysely';
import { findAgent } from '../../domain/agents/agent.ts';
import { ApiError, notFound } from '../../domain/api-error.ts';
import { getConversation } from '../../domain/conversations/conversation.ts';
import { findAnswer } from '../../domain/conversations/run-answer.ts';
import { settingsOfRequests, settingsOfRuns } from '../../domain/conversations/settings-of-runs.ts';
import type { StartedTurn } from '../../domain/conversations/turn-requests.ts';
import { findConversationOfRun, findOwnTurn } from '../../domain/conversations/turn-requests.ts';
import { isId } from '../../domain/entities/column-text.ts';
import { requestCancel } from '../../domain/runs/request-cancel.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import { callerId } from '../../runtime/chat/start-turn.ts';
import type { TurnCaller } from '../../runtime/chat/turn-request.ts';
import { errorOf, stopShownTo } from '../http/chat-answer.ts';
import { createdOf } from './created-of.ts';
import { outcomeOf } from './outcome.ts';
import { endedResponse, type RepeatedSettings, startedResponse } from './response-object.ts';

/** Finds a response by its run, whether it has ended or not. Throws 404 also for one that the caller must not see. */
export async function findResponse(db: Kysely<Tables>, runId: string, caller: TurnCaller): Promise<object> {
  const turn = await findTurn(db, runId, caller);
  const { name } = await findAgent(db, turn.agentId);
  const settings = await settingsOf(db, runId, caller);
  const model = settings.repeated?.model ?? name;
  const head = { runId, contextId: turn.contextId, model, created: createdOf(runId), settings };
  const answer = await findAnswer(db, runId);
  if (answer === undefined) return startedResponse(head);
  const error = errorOf(answer);
  if (error === undefined) return endedResponse(head, await outcomeOf(db, answer));
  const status = answer.status === 'cancelled' ? 'cancelled' : 'failed';
  return {
    ...startedResponse(head),
    status,
    error: { code: 'server_error', message: error.message },
    stop: stopShownTo(caller, answer.stop),
  };
}

/** Requests a cancel of its run. Returns false if the run has ended, because then there is nothing to cancel. */
export async function cancelResponse(tx: Tx, { runId }: FoundTurn): Promise<boolean> {
  return await requestCancel(tx, runId).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'run_ended') return false;
      throw error;
    },
  );
}

/**
 * The settings that the response repeats. A run may have more: if it answers calls, it has those of the run that asked. The request of a run
 * that is not saved is removed. A person is not shown what an operator's program sent in the same conversation.
 */
async function settingsOf(db: Kysely<Tables>, runId: string, caller: TurnCaller): Promise<RepeatedSettings> {
  const [requested] = await settingsOfRequests(db, [runId]);
  const [settings = {}] = requested?.save === false ? await settingsOfRuns(db, [runId]) : [requested];
  const { previousRunId, instructions, callerText = [] } = settings;
  if (caller.kind === 'entity' && (await findOwnTurn(db, callerId(caller), runId)) === undefined)
    return { previousRunId };
  const [ofPerson] = callerText.filter(({ from }) => from === 'system message');
  return { ...settings, instructions: instructions ?? ofPerson?.text };
}

export interface FoundTurn extends StartedTurn {
  readonly agentId: string;
}

/** The turn of a response. It may not have begun yet. */
export async function findTurn(db: Kysely<Tables>, runId: string, caller: TurnCaller): Promise<FoundTurn> {
  const found = isId(runId) ? await findConversationOfRun(db, runId) : undefined;
  if (found === undefined) throw notFound('response', runId.slice(0, 100));
  const conversation = await getConversation(db, found.contextId, caller).catch((error: unknown) => {
    throw error instanceof ApiError ? notFound('response', runId) : error;
  });
  return { ...found, runId, agentId: conversation.agentId };
}
