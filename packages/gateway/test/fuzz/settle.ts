import { waitFor } from '@lastcall/gateway/testing';

// biome-ignore lint/suspicious/noExplicitAny: only the fields that are read here are there.
type Call = (method: string, path: string, body?: object) => Promise<any>;

/** Resumes agents, denies waiting calls and cancels runs, until the denials have been consumed and nothing is left to do. */
export async function settle(call: Call): Promise<void> {
  const taking = new Set<string>();
  await waitFor(
    async () => {
      const { items: agents } = await call('GET', '/api/agents?limit=200');
      for (const { id, status } of agents) if (status === 'paused') await call('POST', `/api/agents/${id}/resume`, {});
      const { items: waiting } = await call('GET', '/api/pending?limit=100');
      for (const { callId, runId } of waiting) {
        const denied = await call('POST', `/api/runs/${runId}/tool-results`, { callId, deny: 'The fuzzer ends.' });
        if (typeof denied.runId === 'string') taking.add(denied.runId);
      }
      const { items: running } = await call('GET', '/api/runs?status=running&limit=100');
      for (const { id } of running) await call('POST', `/api/runs/${id}/cancel`, {});
      for (const id of taking) if (hasEnded(await call('GET', `/api/runs/${id}`))) taking.delete(id);
      return waiting.length + running.length + taking.size === 0;
    },
    { timeoutMs: 120_000 },
  );
}

/** An agent may have been deleted meanwhile, and its run with it. */
function hasEnded({ endedAt, status, error }: { endedAt?: number; status?: string; error?: object }): boolean {
  return endedAt !== undefined || error !== undefined || status === 'failed' || status === 'cancelled';
}
