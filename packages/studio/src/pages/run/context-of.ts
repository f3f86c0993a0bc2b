import type { Run } from '@lastcall/client';

/** The conversation of a run. Undefined for a run of the agent itself, whose thread has the agent's id. */
export function contextOf({ agentId, threadId }: Run): string | undefined {
  return threadId === agentId ? undefined : threadId;
}
