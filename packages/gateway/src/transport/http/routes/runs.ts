import { z } from 'zod';
import { COUNTED_STATUSES } from '../../../domain/calls/call-status.ts';
import { assertMayCancel } from '../../../domain/conversations/may-cancel.ts';
import { shownContextId } from '../../../domain/conversations/own-conversation-id.ts';
import { findAnswer } from '../../../domain/conversations/run-answer.ts';
import { getCall } from '../../../domain/runs/call-details.ts';
import { requestCancel } from '../../../domain/runs/request-cancel.ts';
import { getRunCall } from '../../../domain/runs/run-call.ts';
import { getRunDetails, listCountedRuns, type RunDetails } from '../../../domain/runs/run-details.ts';
import { runTranscript } from '../../../domain/runs/run-transcript.ts';
import { getStepRequest } from '../../../domain/runs/step-request.ts';
import { getStory } from '../../../domain/runs/story.ts';
import type { TurnCaller } from '../../../runtime/chat/turn-request.ts';
import { limitedTo, viewOf } from '../../caller.ts';
import { stopShownTo, toChatAnswer } from '../chat-answer.ts';
import { conversationUser } from '../conversation-user.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, numberInQuery, pageFields, pageOf, positionFields } from '../fields.ts';
import { callSchema, runCallSchema, runEntrySchema, runSchema, runStatusSchema } from '../schemas/run.ts';
import { stepRequestSchema } from '../schemas/step-request.ts';
import { storySchema } from '../schemas/story.ts';

const timeInQuery = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional();

export const runEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/runs',
    summary: 'List runs, newest first',
    description: 'A run is what an agent does about the events that woke it.',
    access: 'key',
    query: z.strictObject({
      ...pageFields,
      agentId: idField.optional(),
      contextId: idField.optional().meta({ description: 'It is a run of this conversation.' }),
      status: runStatusSchema.optional().meta({
        description: 'A queued run is in no list: it is found by its id, and its event in the inbox of its agent.',
      }),
      stop: z.string().max(100).optional().meta({ description: 'Why it stopped, e.g. `max_steps`.' }),
      toolName: z.string().max(200).optional().meta({ description: 'It called this tool.' }),
      outcome: z
        .enum(COUNTED_STATUSES)
        .optional()
        .meta({ description: 'One of its calls has this status. With `toolName`: one of that tool.' }),
      spaceId: idField.optional().meta({ description: 'It wrote in this space, or showed a call there.' }),
      eventId: idField.optional().meta({ description: 'This event woke it.' }),
      since: timeInQuery.meta({ description: 'Started at or after this time.' }),
      until: timeInQuery.meta({ description: 'Started before this time.' }),
    }),
    answer: pageOf(runSchema),
    handle: ({ caller, query }, tx) => listCountedRuns(tx.db, { ...query, view: viewOf(caller) }),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}',
    summary: 'Get a run',
    access: 'key',
    answer: runSchema,
    async handle({ params }, tx, { prices }) {
      const run = await getRunDetails(tx.db, params.id, prices);
      // Runs of an agent's own thread have no answer.
      const answer = run.threadId === run.agentId ? undefined : await findAnswer(tx.db, run.id);
      return answer === undefined ? run : { ...run, result: toChatAnswer(answer) };
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/story',
    summary: 'Get the task of a run',
    description:
      'All runs of the task, from the one that its words woke: those that took the answers to its calls, and further attempts. Any of these runs can be named.',
    access: 'key',
    answer: storySchema,
    handle: ({ params }, tx, { prices }) => getStory(tx.db, params.id, prices),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/transcript',
    summary: 'Get the transcript of a run',
    description: 'Everything that happened in it, in order.',
    access: 'key',
    query: z.strictObject({ ...positionFields }),
    answer: pageOf(runEntrySchema),
    handle: ({ params, query }, tx, { prices }) =>
      runTranscript(tx.db, params.id, { ...query, prices, limits: tx.limits }),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/steps/{step}/request',
    summary: 'Get the request of a step',
    description: 'The exact request to the model. It is available once the step has a reply or has failed.',
    access: 'key',
    answer: stepRequestSchema,
    handle: ({ params }, tx) => getStepRequest(tx.db, params.id, params.step),
  }),
  endpoint({
    method: 'get',
    path: '/api/runs/{id}/calls/{callId}',
    summary: 'Get a call of a run',
    description: 'Includes the full output, even if it was cut for the model.',
    access: 'key',
    answer: runCallSchema,
    handle: ({ params }, tx) => getRunCall(tx.db, params.id, params.callId),
  }),
  endpoint({
    method: 'get',
    path: '/api/calls/{id}',
    summary: 'Get a call by its id',
    description:
      'With a token: what its card shows to the members of its space, or, without a card, what entities that may answer it can see. With a secret key: everything.',
    access: 'entity',
    answer: callSchema,
    handle: ({ caller, params }, tx) => getCall(tx.db, params.id, { entityId: limitedTo(caller) }),
  }),
  endpoint({
    method: 'post',
    path: '/api/runs/{id}/cancel',
    summary: 'Cancel a run',
    description:
      'Aborts its model request and its tools, and settles its open calls. With a token: a run in a conversation of its entity.',
    access: 'entity',
    answer: runSchema,
    refusals: [409],
    async handle({ caller, params }, tx, services) {
      const user = conversationUser(caller);
      await assertMayCancel(tx.db, params.id, user);
      await requestCancel(tx, params.id);
      return runShownTo(user, await getRunDetails(tx.db, params.id, services.prices));
    },
  }),
];

/** Entities do not see the hosts and processes that ran it, nor the provider's error details. */
function runShownTo(user: TurnCaller, run: RunDetails): object {
  if (user.kind === 'key') return run;
  const { worker: _worker, takeovers: _takeovers, stop, ...shown } = run;
  return {
    ...shown,
    threadId: shownContextId(run.threadId, user),
    ...(stop === undefined ? {} : { stop: stopShownTo(user, stop) }),
  };
}
