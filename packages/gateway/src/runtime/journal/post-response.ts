import { ApiError } from '../../domain/api-error.ts';
import { lockSpace } from '../../domain/spaces/lock-space.ts';
import { requireMember } from '../../domain/spaces/membership.ts';
import { postMessage } from '../../domain/spaces/post-message.ts';
import { spaceStream } from '../../domain/streams/stream-names.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { PostReply, PostResponse } from '../run/run-write.ts';
import type { ApplyContext } from './apply-context.ts';
import { endUnendedCall } from './unended-calls.ts';

/**
 * Posts the response of a run, in the transaction that ends the run. The message has the id of the call, so a second attempt finds it.
 * The work of the run is done: if the message cannot be posted, the run still ends, and `GET /api/runs/:id` has the response.
 */
export async function postResponse({ run, services }: ApplyContext, tx: Tx, response: PostResponse): Promise<void> {
  const { spaceId, callId, toolName, text } = response;
  const { runId, agent } = run;
  if (await hasCard(tx, callId)) return;
  try {
    await postMessage(services, tx, {
      ...{ spaceId, entityId: agent.entityId, messageId: callId, runId },
      text: cutMessage(text, tx.limits.messageCharacters),
      metadata: { toolName, response: true },
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    tx.afterCommit(() => services.logger.warn(`The response of run ${runId} was not posted: ${error.message}`));
  }
}

/**
 * Posts the text that ended a run, in the transaction that ends it. If the agent has left the space, or the text cannot be posted for
 * another reason, the run still ends, and `GET /api/runs/:id` has the text.
 */
export async function postReply({ run, services }: ApplyContext, tx: Tx, reply: PostReply): Promise<void> {
  const { spaceId, messageId, text, unseen } = reply;
  const { runId, agent } = run;
  try {
    if (unseen !== undefined && unseen !== '') {
      // Checked before anything is shown: a space that the agent was removed from must not see what it wrote.
      await lockSpace(tx, spaceId);
      await requireMember(tx.db, spaceId, agent.entityId);
      tx.emit({ stream: spaceStream(spaceId), type: 'message.delta', payload: { streamId: messageId, delta: unseen } });
    }
    await postMessage(services, tx, {
      ...{ spaceId, entityId: agent.entityId, messageId, runId },
      text: cutMessage(text, tx.limits.messageCharacters, `, all of them in run ${runId}`),
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (unseen !== undefined)
      endUnendedCall(tx, { callId: messageId, kind: 'message', spaceId }, 'The message could not be posted.');
    tx.afterCommit(() => services.logger.warn(`The reply of run ${runId} was not posted: ${error.message}`));
  }
}

async function hasCard({ db }: Tx, callId: string): Promise<boolean> {
  return (await cardOf(db, { callId })).length > 0;
}

const cardOf = statement((db, { callId }: Params<{ callId: string }>) =>
  db.selectFrom('messages').select('id').where('call_id', '=', callId),
);

/** People read the beginning, how much is missing, and where it is, if there is room for that. */
function cutMessage(text: string, limit: number, where = ''): string {
  if (text.length <= limit) return text;
  const [long, short] = [where, ''].map((more) => `\n[cut: the text has ${text.length} characters${more}]`) as [
    string,
    string,
  ];
  const mark = long.length <= limit / 2 ? long : short;
  const head = text.slice(0, Math.max(1, limit - mark.length)).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}${mark}`.slice(0, limit);
}
