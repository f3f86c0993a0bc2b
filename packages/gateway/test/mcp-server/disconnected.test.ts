import { tool } from '@lastcall/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../../src/testing/wait-for.ts';
import { describeMcpServer, type Era, textOf } from './mcp-client.ts';

const ERAS: readonly Era[] = ['2025', '2026'];

/** A tool that runs until the test ends it, or until it is aborted. */
function slowTool(more: { approval?: true } = {}) {
  const runs: { finish: () => void; isAborted: boolean }[] = [];
  const slow = tool({
    ...more,
    description: 'Takes its time.',
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }, { abortSignal }) =>
      new Promise<string>((resolve, reject) => {
        const run = { finish: () => resolve(`Finished ${n}.`), isAborted: false };
        runs.push(run);
        abortSignal.addEventListener('abort', () => {
          run.isAborted = true;
          reject(abortSignal.reason);
        });
      }),
  });
  return { runs, slow };
}

const withKey = (key: string) => ({ _meta: { 'lastcall/idempotencyKey': key } });

describeMcpServer('MCP clients that reconnect', ({ start, connect }) => {
  test.each(ERAS)(
    '[X19] a client of %s that repeats a call with its key runs nothing twice, also after it was cut off',
    async (era) => {
      const { runs, slow } = slowTool();
      const gateway = await start({ tools: { slow } });
      const call = { name: 'slow', arguments: { n: 1 }, ...withKey(`again-${era}`) };
      const first = await connect(gateway, { era });
      first.callTool(call).catch(() => {});
      await waitFor(() => runs.length === 1);
      await first.close();
      const second = await connect(gateway, { era });
      const repeated = second.callTool(call);
      runs[0]?.finish();
      expect(textOf(await repeated)).toBe('Finished 1.');
      expect(textOf(await second.callTool(call))).toBe('Finished 1.');
      expect(runs).toHaveLength(1);
      const other = await second.callTool({ ...call, arguments: { n: 2 } });
      expect(other).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Idempotency-Key') }] });
      expect(runs).toHaveLength(1);
    },
  );

  test('[X19] the same key in a request to /chat is another key', async () => {
    const { runs, slow } = slowTool();
    const gateway = await start({ tools: { slow }, agents: [{ name: 'Bot', instructions: 'Help.' }] });
    const answer = await fetch(`${gateway.url}/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'shared',
      },
      body: JSON.stringify({ agent: 'Bot', message: 'Hello.' }),
    });
    expect(answer.status).toBe(200);
    const client = await connect(gateway, { era: '2026' });
    const called = client.callTool({ name: 'slow', arguments: { n: 1 }, ...withKey('shared') });
    await waitFor(() => runs.length === 1);
    runs[0]?.finish();
    expect(textOf(await called)).toBe('Finished 1.');
  });

  test('[X19] a call with a key that cannot be stored is refused, and nothing runs', async () => {
    const { runs, slow } = slowTool();
    const client = await connect(await start({ tools: { slow } }), { era: '2026' });
    for (const key of [17, '', 'x'.repeat(501)]) {
      const _meta = { 'lastcall/idempotencyKey': key };
      const refused = await client.callTool({ name: 'slow', arguments: { n: 1 }, _meta });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toContain('lastcall/idempotencyKey');
    }
    expect(runs).toEqual([]);
  });

  test('[X19] a closed connection does not cancel the call in 2025, but does in 2026, as the protocols say', async () => {
    const { runs, slow } = slowTool();
    const gateway = await start({ tools: { slow } });
    const older = await connect(gateway, { era: '2025' });
    const began = Promise.withResolvers<string>();
    const onprogress = ({ message = '' }: { message?: string | undefined }) =>
      began.resolve(message.split(' ')[1] ?? '');
    older.callTool({ name: 'slow', arguments: { n: 3 } }, { onprogress }).catch(() => {});
    await waitFor(() => runs.length === 1);
    const run_id = await began.promise;
    await older.close();
    const newer = await connect(gateway, { era: '2026' });
    // With its key, the client can repeat the call.
    const kept = { name: 'slow', arguments: { n: 6 }, ...withKey('kept') };
    newer.callTool(kept).catch(() => {});
    await waitFor(() => runs.length === 2);
    newer.callTool({ name: 'slow', arguments: { n: 4 } }).catch(() => {});
    await waitFor(() => runs.length === 3);
    await newer.close();
    await waitFor(() => runs[2]?.isAborted === true);
    expect([runs[0]?.isAborted, runs[1]?.isAborted]).toEqual([false, false]);
    runs[1]?.finish();
    runs[0]?.finish();
    const later = await connect(gateway, { era: '2026' });
    expect(textOf(await later.callTool({ name: 'get_run', arguments: { run_id } }))).toBe('Finished 3.');
    const repeated = await later.callTool(kept);
    expect(textOf(repeated)).toBe('Finished 6.');
    // The repetition changed nothing, so the audit has no second entry.
    const { items } = await gateway.api(`/api/audit?subject=${repeated._meta?.['lastcall/contextId']}`);
    expect(items).toMatchObject([{ action: 'post_mcp' }]);
  });

  test.each(ERAS)('[X19] a gateway that stops cancels no call of a client of %s', async (era) => {
    const { runs, slow } = slowTool();
    const gateway = await start({ tools: { slow }, tuning: { sweepMs: 100, graceMs: 20_000 } });
    const client = await connect(gateway, { era });
    const began = Promise.withResolvers<string>();
    const onprogress = ({ message = '' }: { message?: string | undefined }) =>
      began.resolve(message.split(' ')[1] ?? '');
    client.callTool({ name: 'slow', arguments: { n: 5 } }, { onprogress }).catch(() => {});
    const runId = await began.promise;
    await waitFor(() => runs.length === 1);
    const stopping = gateway.stop();
    // Its requests are cut off, but its runs may finish.
    const isGone = (): Promise<boolean> =>
      fetch(`${gateway.url}/health`).then(
        () => false,
        () => true,
      );
    await waitFor(isGone);
    runs[0]?.finish();
    await stopping;
    const next = await start({ tools: { slow } });
    const second = await connect(next, { era });
    expect(textOf(await second.callTool({ name: 'get_run', arguments: { run_id: runId } }))).toBe('Finished 5.');
    expect(runs).toHaveLength(1);
  });

  test.each(ERAS)('[X19] a call of %s that others approved is cancelled in the run that continues it', async (era) => {
    const { runs, slow } = slowTool({ approval: true });
    const gateway = await start({ tools: { slow: { tool: slow, answerers: { roles: ['boss'] } } } });
    const client = await connect(gateway, { era });
    const stop = new AbortController();
    client.callTool({ name: 'slow', arguments: { n: 7 } }, { signal: stop.signal }).catch(() => {});
    const waiting = async () => (await gateway.api('/api/pending')).items.at(-1);
    await waitFor(async () => (await waiting())?.toolName === 'slow');
    const { runId, callId } = await waiting();
    await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
    await waitFor(() => runs.length === 1);
    stop.abort();
    await waitFor(() => runs[0]?.isAborted === true);
  });

  test('[X19] a result is not given to a key that was revoked while the call ran', async () => {
    const { runs, slow } = slowTool();
    const gateway = await start({ tools: { slow } });
    const { id, key } = await gateway.api('/api/keys', { name: 'short', scopes: ['write'] });
    const client = await connect(gateway, { era: '2026', key });
    const calling = client.callTool({ name: 'slow', arguments: { n: 6 } });
    await waitFor(() => runs.length === 1);
    await gateway.request(`/api/keys/${id}`, undefined, { method: 'DELETE' });
    runs[0]?.finish();
    const { items } = await gateway.api('/api/runs');
    const text = `The key was revoked. Run ${items[0].id} is stored, and continues or has ended. Do not repeat the call.`;
    expect(await calling).toMatchObject({ isError: true, content: [{ text }] });
  });

  test.each(ERAS)('[X19] beyond the limit, a call of %s is refused and starts nothing', async (era) => {
    const { runs, slow } = slowTool();
    const gateway = await start({ tools: { slow }, tuning: { sweepMs: 100, connections: 1 } });
    const client = await connect(gateway, { era });
    const calling = client.callTool({ name: 'slow', arguments: { n: 8 } });
    await waitFor(() => runs.length === 1);
    const { items: before } = await gateway.api('/api/runs');
    const refused = await client.callTool({ name: 'slow', arguments: { n: 9 } });
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toContain('limit of 1 open streams and waiting requests. Nothing was started.');
    runs[0]?.finish();
    expect(await calling).not.toMatchObject({ isError: true });
    expect((await gateway.api('/api/runs')).items).toHaveLength(before.length);
    const again = client.callTool({ name: 'slow', arguments: { n: 10 } });
    await waitFor(() => runs.length === 2);
    runs[1]?.finish();
    expect(await again).not.toMatchObject({ isError: true });
  });
});
