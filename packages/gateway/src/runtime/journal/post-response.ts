import { ApiError } from '../../domain/api-error.ts';
import { preparePost, writeMessage } from '../../domain/spaces/post-message.ts';
import { spaceStream } from '../../domain/streams/stream-names.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { PostReply, PostResponse } from '../run/run-write.ts';
import type { ApplyContext } from './apply-context.ts';
import { endUnendedCall } from './unended-calls.ts';

/**
 * Prepares a post, and returns the function that writes it: nothing is written before. The work of the run is done: if the message cannot be
 * posted, because the agent has left the space or for another reason, the run still ends, and `GET /api/runs/:id` has the text.
 */
export async function preparePosting(context: ApplyContext, tx: Tx, post: PostResponse | PostReply): Promise<Posting> {
  try {
    return post.kind === 'post-reply'
      ? await prepareReply(context, tx, post)
      : await prepareResponse(context, tx, post);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { post: () => tellRefused(context, tx, post, error) };
  }
}

export interface Posting {
  post(): undefined | Promise<unknown>;
  /** The space, if it is certain that the agent may post there. */
  readonly checkedSpaceId?: string;
}

/** The message has the id of the call, so a second attempt finds it. */
async function prepareResponse({ run, services }: ApplyContext, tx: Tx, response: PostResponse): Promise<Posting> {
  const { spaceId, callId, toolName, text } = response;
  if ((await cardOf(tx.db, { callId })).length > 0) return { post: nothing };
  const prepared = await preparePost(tx, {
    ...{ spaceId, entityId: run.agent.entityId, messageId: callId, runId: run.runId },
    text: cutMessage(text, tx.limits.messageCharacters),
    metadata: { toolName, response: true },
  });
  return { checkedSpaceId: spaceId, post: () => writeMessage(services, tx, prepared) };
}

async function prepareReply({ run, services }: ApplyContext, tx: Tx, reply: PostReply): Promise<Posting> {
  const { spaceId, messageId, text, unseen = '' } = reply;
  const { runId, agent } = run;
  const prepared = await preparePost(tx, {
    ...{ spaceId, entityId: agent.entityId, messageId, runId },
    text: cutMessage(text, tx.limits.messageCharacters, `, all of them in run ${runId}`),
  });
  const post = (): Promise<unknown> => {
    // Shown only now: a space that the agent was removed from must not see what it wrote.
    if (unseen !== '')
      tx.emit({ stream: spaceStream(spaceId), type: 'message.delta', payload: { streamId: messageId, delta: unseen } });
    return writeMessage(services, tx, prepared);
  };
  return { checkedSpaceId: spaceId, post };
}

function tellRefused(
  { run, services }: ApplyContext,
  tx: Tx,
  post: PostResponse | PostReply,
  error: ApiError,
): undefined {
  const what = post.kind === 'post-reply' ? 'reply' : 'response';
  if (post.kind === 'post-reply' && post.unseen !== undefined)
    endUnendedCall(
      tx,
      { callId: post.messageId, kind: 'message', spaceId: post.spaceId },
      'The message could not be posted.',
    );
  tx.afterCommit(() => services.logger.warn(`The ${what} of run ${run.runId} was not posted: ${error.message}`));
}

const nothing = (): undefined => undefined;

const cardOf = statement(
  (db, { callId }: Params<{ callId: string }>) => db.selectFrom('messages').select('id').where('call_id', '=', callId),
  { types: { callId: 'text' } },
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
