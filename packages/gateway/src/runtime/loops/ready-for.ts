import type { ReadyOptions } from '../tools/mcp/mcp-connection.ts';
import type { OpenedRun } from './open-run.ts';

/** How a run waits for the MCP servers of its agent. */
export function readyFor({ run, abort }: Pick<OpenedRun, 'run' | 'abort'>): ReadyOptions {
  return {
    // The server is asked again, because what was approved must still be what runs.
    isFresh: Object.keys(run.answers).length > 0,
    // The other half of the time is for the answer.
    withinMs: run.agent.limits.cycleTimeoutMs / 2,
    signal: abort.signal,
  };
}
