import { ApiError } from '../../domain/api-error.ts';
import { postMessage } from '../../domain/spaces/post-message.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { PostResponse } from '../run/run-write.ts';
import type { ApplyContext } from './apply-context.ts';

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

async function hasCard(tx: Tx, callId: string): Promise<boolean> {
  const card = tx.db.selectFrom('messages').select('id').where('call_id', '=', callId);
  return (await card.executeTakeFirst()) !== undefined;
}

/** People read the beginning, and how much is missing. */
function cutMessage(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const mark = `\n[cut: the text has ${text.length} characters]`;
  const head = text.slice(0, Math.max(1, limit - mark.length)).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}${mark}`.slice(0, limit);
}
