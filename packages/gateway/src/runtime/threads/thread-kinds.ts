import type { ThreadRow } from '../../ports/store/schema/tables.ts';
import type { ThreadKind } from '../run/thread-kind.ts';
import { agentThread } from './agent-thread.ts';
import { conversationThread } from './conversation-thread.ts';

export const THREAD_KINDS: Readonly<Record<ThreadRow['kind'], ThreadKind>> = {
  agent: agentThread,
  context: conversationThread,
};
