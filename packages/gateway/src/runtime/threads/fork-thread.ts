import type { ThreadKind } from '../run/thread-kind.ts';
import { agentThread } from './agent-thread.ts';
import { conversationThread } from './conversation-thread.ts';

/**
 * The fork of an agent's run: a conversation in which the agent reads and does what it would in its spaces. Nothing is shown there, and
 * what it would change is only simulated.
 */
export const agentFork: ThreadKind = {
  ...agentThread,
  name: 'fork',
  hasSpaces: false,
  runStream: conversationThread.runStream,
  retriesFailedRuns: false,
  takeEvents: conversationThread.takeEvents,
  requestOf: conversationThread.requestOf,
  entriesOf: conversationThread.entriesOf,
};
