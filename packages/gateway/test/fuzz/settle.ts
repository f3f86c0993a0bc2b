import { waitFor } from '@lastcall/gateway/testing';

// biome-ignore lint/suspicious/noExplicitAny: only the fields that are read here are there.
type Call = (method: string, path: string, body?: object) => Promise<any>;

/** Resumes agents, denies what waits, cancels what runs, until nothing is left to do. */
export async function settle(call: Call): Promise<void> {
  await waitFor(
    async () => {
      const { items: waiting } = await call('GET', '/api/pending?limit=100');
      const { items: running } = await call('GET', '/api/runs?status=running&limit=100');
      for (const { callId, runId } of waiting)
        await call('POST', `/api/runs/${runId}/tool-results`, { callId, deny: 'The fuzzer ends.' });
      for (const { id } of running) await call('POST', `/api/runs/${id}/cancel`, {});
      return waiting.length + running.length === 0;
    },
    { timeoutMs: 120_000 },
  );
}
