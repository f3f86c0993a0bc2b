import type { PostReply, PostResponse, Write } from './run-write.ts';

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
  'post-response',
  'post-reply',
]);

/** The spaces in which the writes post a message. */
export function spacesPostedIn(writes: readonly Write[]): readonly string[] {
  const spaceIds = writes.flatMap((write) => (isPost(write) ? [write.spaceId] : []));
  return spaceIds.length < 2 ? spaceIds : [...new Set(spaceIds)].sort();
}

function isPost(write: Write): write is PostResponse | PostReply {
  return write.kind === 'post-response' || write.kind === 'post-reply';
}

/** The end of a call that may have waited is read before it is written, and so are events that wait for another day. */
export function isPlain(write: Write): boolean {
  if (write.kind === 'close-run') return write.held === undefined;
  return PLAIN.has(write.kind) && !(write.kind === 'call-ended' && write.outcomeStatus === 'cancelled');
}
