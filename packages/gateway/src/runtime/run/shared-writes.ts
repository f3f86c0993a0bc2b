import type { GroupOptions } from '../../ports/store/store.ts';
import type { PostReply, PostResponse, Write } from './run-write.ts';

/** These writes wait for no row that another transaction holds for long. */
const PLAIN: ReadonlySet<Write['kind']> = new Set([
  'entry',
  'request-text',
  'call-planned',
  'call-started',
  'call-ended',
  'space-event',
  'live-event',
  'run-event',
  'close-run',
  'count-usage',
  'release-thread',
]);

/** How the transaction with these writes can be combined with others. Undefined if it runs alone. */
export function groupOf(threadId: string, writes: readonly Write[]): GroupOptions | undefined {
  const post = sharedPost(writes);
  if (post !== undefined) return { kind: 'reply', keys: [threadId, post.spaceId], turn: post.spaceId };
  return writes.every(isPlain) ? { kind: 'journal', keys: [threadId] } : undefined;
}

/**
 * The message that the writes post, if they can be combined with others that post. New texts are left out: other transactions write texts
 * before they lock a space, and a group that does it the other way round could deadlock with them.
 */
export function sharedPost(writes: readonly Write[]): PostResponse | PostReply | undefined {
  const [post, ...more] = writes.filter(isPost);
  if (post === undefined || more.length > 0) return undefined;
  return writes.every((write) => write === post || (isPlain(write) && write.kind !== 'request-text'))
    ? post
    : undefined;
}

export function isPost(write: Write): write is PostResponse | PostReply {
  return write.kind === 'post-response' || write.kind === 'post-reply';
}

/** The end of a call that may have waited is read before it is written, and so are events that wait for another day. */
function isPlain(write: Write): boolean {
  if (write.kind === 'close-run') return write.held === undefined;
  return PLAIN.has(write.kind) && !(write.kind === 'call-ended' && write.outcomeStatus === 'cancelled');
}
