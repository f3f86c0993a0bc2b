import type { Write } from './run-write.ts';

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

/** The end of a call that may have waited is read before it is written, and so are events that wait for another day. */
export function isPlain(write: Write): boolean {
  if (write.kind === 'close-run') return write.held === undefined;
  return PLAIN.has(write.kind) && !(write.kind === 'call-ended' && write.outcomeStatus === 'cancelled');
}
