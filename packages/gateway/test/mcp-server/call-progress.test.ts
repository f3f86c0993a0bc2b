import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { CallProgress } from '../../src/transport/mcp-server/call-progress.ts';

/** A client that asks for progress. */
function listening() {
  const told: { readonly progress: number }[] = [];
  const notify = async ({ params }: { params: { progress: number } }): Promise<void> => void told.push(params);
  const ctx = { mcpReq: { _meta: { progressToken: 'p' }, notify } } as unknown as ServerContext;
  const tell = (value: unknown): void =>
    progress.tell({
      stream: 's',
      seq: 1,
      type: 'tool-call.progress',
      payload: { toolName: 't', value },
      at: 1,
    } as never);
  const progress = new CallProgress(ctx, { runId: 'run', isOneTool: true, isLogged: false });
  return { told, tell };
}

test('[X19] a tool that reports its progress thousands of times sends a client few notifications', () => {
  const { told, tell } = listening();
  const startedAt = Date.now();
  for (let progress = 0; progress < 5_000; progress++) tell({ progress });
  const seconds = Math.ceil((Date.now() - startedAt) / 1_000) + 1;
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThanOrEqual(50 * seconds);
});

test('[X19] the numbers of the progress only rise, also if a tool goes back', () => {
  const { told, tell } = listening();
  for (const progress of [1, 3, 2, 3, 4]) tell({ progress });
  expect(told.map(({ progress }) => progress)).toEqual([1, 3, 4]);
});
