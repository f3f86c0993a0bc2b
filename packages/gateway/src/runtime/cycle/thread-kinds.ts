import type { ThreadRow } from '../../ports/store/tables.ts';
import { agentThread } from './agent-thread.ts';
import { contextThread } from './context-thread.ts';
import type { ThreadKind } from './thread-kind.ts';

export const THREAD_KINDS: Readonly<Record<ThreadRow['kind'], ThreadKind>> = {
  agent: agentThread,
  context: contextThread,
};
