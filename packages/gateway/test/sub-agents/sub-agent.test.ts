import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, type TestGatewayOptions, waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SubAgentTurn } from '../../src/domain/runs/sub-agent-turn.ts';
import { isFirstStep, resultsOf, systemOf, textsOf } from '../support/requests.ts';

type Row = { entry: { kind: string; settlement?: Settled } };
type EndedRun = { id: string; status: string; usage: object };
type Settled = { toolName: string; outcome: { status: string; code?: string; value?: unknown; text: string } };

/** The agent's own model: calls `ask` once, and then ends. */
const calling = (input: object = { question: 'How deep is the sea?' }, toolName = 'ask') =>
  scriptedModel((request) => (isFirstStep(request) ? { toolName, input } : 'Done.'));

const usageOf = (input: number, output: number, reasoning?: number) => ({
  inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: output - (reasoning ?? 0), reasoning },
});

const ask = (execution: object, more: object = {}) => ({
  executionType: 'gateway' as const,
  visible: false,
  inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
  execution,
  ...more,
});

async function startWith(
  options: TestGatewayOptions,
  agent: object = {},
): Promise<TestGateway & { settled(): Promise<Settled>; run: EndedRun; agentId: string }> {
  const gateway = await startTestGateway({
    agents: [{ name: 'Asker', instructions: 'The secret plan of the asker.', tools: ['ask'], ...agent }],
    ...options,
  });
  const [{ id: agentId }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${agentId}/events`, { source: 'test', name: 'the tide comes' });
  const run = await waitFor(
    async () => {
      const [newest] = (await gateway.api(`/api/runs?agentId=${agentId}`)).items;
      return newest !== undefined && newest.status !== 'running' && newest;
    },
    { timeoutMs: 30_000 },
  );
  return Object.assign(gateway, {
    run,
    agentId,
    async settled() {
      const { items } = await gateway.api(`/api/runs/${run.id}/transcript?limit=200`);
      return (items as Row[]).map(({ entry }) => entry).findLast(({ kind }) => kind === 'settled')
        ?.settlement as Settled;
    },
  });
}

interface RecordedEntry {
  readonly kind: string;
  readonly entry: { readonly settlement: { readonly callId: string } };
  readonly subAgents?: readonly SubAgentTurn[];
}

describe('a sub-agent', () => {
  test('[X12] runs a nested turn with its own model, prompt and tools, and its answer is the result of the call', async () => {
    const seen: unknown[] = [];
    const expert = scriptedModel((request) =>
      resultsOf(request).length === 0 ? { toolName: 'measure', input: { where: 'sea' } } : 'It is 11 km deep.',
    );
    const measure = tool({
      description: 'Measures.',
      inputSchema: z.object({ where: z.string() }),
      execute: (input) => {
        seen.push(input);
        return '11 km';
      },
    });
    await using gateway = await startWith({
      model: calling(),
      models: { expert },
      tools: {
        measure,
        ask: ask({ agentConfig: { model: 'expert', instructions: 'You know the sea.', tools: ['measure'] } }),
      },
    });
    expect((await gateway.settled()).outcome).toMatchObject({ status: 'ok', value: 'It is 11 km deep.' });
    expect(seen).toEqual([{ where: 'sea' }]);
    const [first] = expert.requests;
    expect(first?.tools?.map(({ name }) => name)).toEqual(['measure']);
    expect(systemOf(first as never)).toBe('You know the sea.');
    expect(textsOf(first?.prompt as never)).toEqual(['How deep is the sea?']);
  });

  test("[X12] includeContext adds the caller's conversation, without the tag of its frames; without it nothing of that is included", async () => {
    const expert = scriptedModel(() => 'Aha.');
    const agentConfig = { model: 'expert', instructions: 'Advise.' };
    await using one = await startWith({ model: calling(), models: { expert }, tools: { ask: ask({ agentConfig }) } });
    await using other = await startWith({
      model: calling(),
      models: { expert },
      tools: { ask: ask({ agentConfig, includeContext: true }) },
    });
    expect([one.run.status, other.run.status]).toEqual(['completed', 'completed']);
    const [without = '', with_ = ''] = expert.requests.map(({ prompt }) => textsOf(prompt as never).join('\n'));
    expect(without).not.toContain('the tide comes');
    expect(with_).toContain('the tide comes');
    expect(with_).toContain('How deep is the sea?');
    expect(with_).not.toContain('The secret plan of the asker.');
    expect(with_).toMatch(/inbox-hidden/);
    expect(with_).not.toMatch(/inbox-q\d/);
  });

  test('[X12] its cost is added to the run, also if it fails', async () => {
    const expert = scriptedModel(() => ({ calls: [{ toolName: 'again' }], usage: usageOf(1_000, 200, 90) }));
    const again = tool({ description: 'Again.', inputSchema: z.object({}), execute: () => 'again' });
    const agentConfig = { model: 'expert', instructions: '', tools: ['again'], limits: { maxSteps: 2 } };
    await using gateway = await startWith({
      model: calling(),
      models: { expert },
      tools: { again, ask: ask({ agentConfig }) },
    });
    expect((await gateway.settled()).outcome.text).toContain('max_steps');
    // Two steps of the run itself, at 10 and 5 tokens, and two of the sub-agent.
    const usage = { inputTokens: 2_020, outputTokens: 410, totalTokens: 2_430, reasoningTokens: 180 };
    expect(gateway.run.usage).toEqual(usage);
    expect(await gateway.api(`/api/runs/${gateway.run.id}`)).toMatchObject({ usage });
    const metrics = await (await gateway.request('/metrics')).text();
    expect(metrics).toMatch(/direction="input"} 2020/);
  });

  test('its calls are in the transcript of the run, with their own usage and cost, also those of a sub-agent inside it', async () => {
    const lead = scriptedModel((request) =>
      resultsOf(request).length === 0
        ? { calls: [{ toolName: 'expert', input: { question: 'Deep?' } }], usage: usageOf(100, 10) }
        : { text: 'Deep.', usage: usageOf(200, 20) },
    );
    const expert = scriptedModel((request) =>
      resultsOf(request).length === 0
        ? { calls: [{ toolName: 'measure', input: { where: 'x'.repeat(5_000) } }], usage: usageOf(1_000, 100) }
        : { text: '11 km.', usage: usageOf(2_000, 200) },
    );
    const measure = tool({ description: 'Measures.', inputSchema: z.looseObject({}), execute: () => '11 km' });
    await using gateway = await startWith({
      model: calling(),
      models: { lead, expert },
      prices: { scripted: { input: 10, output: 100 } },
      tools: {
        measure,
        expert: ask({ agentConfig: { model: 'expert', instructions: 'Measure.', tools: ['measure'] } }),
        ask: ask({ agentConfig: { model: 'lead', instructions: 'Ask.', tools: ['expert'] } }),
      },
    });
    const { items } = await gateway.api(`/api/runs/${gateway.run.id}/transcript?limit=200`);
    const end = (items as RecordedEntry[]).find(({ kind }) => kind === 'settled');
    const [outer, inner] = end?.subAgents ?? [];
    if (end === undefined || outer === undefined || inner === undefined) throw new Error('Nothing is recorded.');
    expect(outer).toMatchObject({
      ...{ callId: end.entry.settlement.callId, usage: { totalTokens: 330 }, cost: 0.006 },
      steps: [
        { step: 1, cost: 0.002, calls: [{ toolName: 'expert', status: 'ok', output: '11 km.' }] },
        { step: 2, text: 'Deep.', calls: [] },
      ],
    });
    expect(inner).toMatchObject({
      ...{ callId: outer.steps[0]?.calls[0]?.callId, usage: { totalTokens: 3_300 }, cost: 0.06 },
      steps: [{ calls: [{ toolName: 'measure', output: '11 km' }] }, { text: '11 km.' }],
    });
    // Long texts are cut.
    expect(inner.steps[0]?.calls[0]?.input).toHaveLength(4_001);
    const replies = (items as { kind: string; cost?: number }[]).flatMap(({ cost }) => cost ?? []);
    const run = await gateway.api(`/api/runs/${gateway.run.id}`);
    expect(run.cost).toBeCloseTo(replies.reduce((sum, cost) => sum + cost, 0) + 0.066, 9);
  });

  test('[X12] sub-agents nest three deep by default, and a call that would go deeper fails there', async () => {
    const seen: string[] = [];
    const deep = scriptedModel((request) => {
      const results = resultsOf(request);
      if (results.length === 0) return { toolName: 'ask', input: { question: 'deeper?' } };
      seen.push(results[0]?.text ?? '');
      return `heard: ${results[0]?.text}`;
    });
    const tools = { ask: ask({ agentConfig: { model: 'deep', instructions: 'Ask yourself.', tools: ['ask'] } }) };
    await using gateway = await startWith({ model: calling(), models: { deep }, tools });
    expect((await gateway.settled()).outcome.status).toBe('ok');
    expect(seen).toHaveLength(3);
    expect(seen[0]).toContain('nested 3 deep');
    seen.length = 0;
    await using shallow = await startWith(
      { model: calling(), models: { deep }, tools },
      { limits: { subAgentDepth: 1 } },
    );
    expect((await shallow.settled()).outcome.status).toBe('ok');
    expect(seen).toHaveLength(1);
    await using none = await startWith({ model: calling(), models: { deep }, tools }, { limits: { subAgentDepth: 0 } });
    expect((await none.settled()).outcome).toMatchObject({ status: 'error', code: 'too_deep' });
  });

  test('[X12] [R42] its timeout ends the nested turn: model and tools are aborted', async () => {
    const aborted = Promise.withResolvers<string>();
    const expert = scriptedModel(() => ({ toolName: 'hang' }));
    const hang = tool({
      description: 'Hangs.',
      inputSchema: z.object({}),
      execute: (_input, { abortSignal }) =>
        new Promise(() => abortSignal.addEventListener('abort', () => aborted.resolve('aborted'))),
    });
    await using gateway = await startWith({
      model: calling(),
      models: { expert },
      tools: { hang, ask: ask({ agentConfig: { model: 'expert', instructions: '', tools: ['hang'] }, timeout: 300 }) },
    });
    expect((await gateway.settled()).outcome).toMatchObject({ status: 'error', code: 'timeout' });
    expect(await aborted.promise).toBe('aborted');
  });

  test('[X12] [R42] it spends the budget of the agent that calls it', async () => {
    const expert = scriptedModel(() => ({ calls: [{ toolName: 'again' }], usage: usageOf(1_000, 100) }));
    const again = tool({ description: 'Again.', inputSchema: z.object({}), execute: () => 'again' });
    await using gateway = await startWith(
      {
        model: calling(),
        models: { expert },
        tools: { again, ask: ask({ agentConfig: { model: 'expert', instructions: '', tools: ['again'] } }) },
      },
      { limits: { tokensPerCycle: 3_000 } },
    );
    expect((await gateway.settled()).outcome).toMatchObject({
      status: 'error',
      text: expect.stringContaining('budget'),
    });
    expect(expert.requests).toHaveLength(3);
  });

  test('a large output of one of its tools is cut before its model reads it', async () => {
    const expert = scriptedModel((request) => (resultsOf(request).length === 0 ? { toolName: 'dump' } : 'Read.'));
    const dump = tool({ description: 'Dumps.', inputSchema: z.object({}), execute: () => 'x'.repeat(50_000) });
    await using gateway = await startWith({
      model: calling(),
      models: { expert },
      tools: { dump, ask: ask({ agentConfig: { model: 'expert', instructions: '', tools: ['dump'] } }) },
      limits: { outputBytes: 10_000 },
    });
    expect((await gateway.settled()).outcome.status).toBe('ok');
    const [{ text = '' } = {}] = resultsOf(expert.requests[1] as never);
    expect(text.length).toBeLessThan(11_000);
    expect(text).toContain('[output dropped');
  });

  test('[R42] a terminal tool of the sub-agent gives its output, and does not end the run of the caller', async () => {
    const report = tool({
      description: 'Reports.',
      inputSchema: z.object({ km: z.number() }),
      terminal: true,
      execute: ({ km }) => ({ km }),
    });
    const expert = scriptedModel([{ toolName: 'report', input: { km: 11 } }]);
    const model = calling();
    await using gateway = await startWith({
      model,
      models: { expert },
      tools: { report, ask: ask({ agentConfig: { model: 'expert', instructions: '', tools: ['report'] } }) },
    });
    expect((await gateway.settled()).outcome).toMatchObject({ status: 'ok', value: { km: 11 } });
    expect(model.requests).toHaveLength(2);
  });

  test('[X12] an unknown tool is refused where it is configured, with its path: in the file, in an agent, in the registry', async () => {
    const naming = (name: string) => ask({ agentConfig: { instructions: '', tools: [name] } });
    await expect(startTestGateway({ tools: { ask: naming('nobody') } })).rejects.toThrow(
      'tools.ask.execution.agentConfig.tools[0] names "nobody", which is not a tool of this configuration.',
    );
    await using gateway = await startTestGateway({ tools: { look: ask({ value: 1 }, { executionType: 'internal' }) } });
    const agent = (name: string) => ({ name: 'A', instructions: '', tools: [{ name: 'ask', ...naming(name) }] });
    expect((await gateway.api('/api/agents', agent('nobody'))).error).toMatchObject({
      code: 'invalid_config',
      details: { path: 'tools[0].execution.agentConfig.tools[0]' },
    });
    expect((await gateway.request('/api/agents', agent('look'))).status).toBe(201);
    const refused = await gateway.api('/api/tools', { name: 'ask', ...naming('nobody') });
    expect(refused.error).toMatchObject({ details: { path: 'execution.agentConfig.tools[0]' } });
    const registered = await gateway.api('/api/tools', { name: 'ask', ...naming('ask') });
    const change = { execution: naming('nobody').execution };
    const changed = await gateway.request(`/api/tools/${registered.id}`, change, { method: 'PATCH' });
    expect(changed.status).toBe(422);
  });

  test('a tool whose calls workers answer is refused if it is inline, and fails the call if it is only named', async () => {
    const inline = ask({ agentConfig: { instructions: '', tools: [{ name: 'confirm', executionType: 'external' }] } });
    await expect(startTestGateway({ tools: { ask: inline } })).rejects.toThrow(
      'tools.ask.execution.agentConfig.tools[0].executionType is of no use to a sub-agent',
    );
    await using gateway = await startWith({
      model: calling(),
      tools: {
        confirm: { executionType: 'external' },
        ask: ask({ agentConfig: { instructions: '', tools: ['confirm'] } }),
      },
    });
    expect((await gateway.settled()).outcome).toMatchObject({
      status: 'error',
      text: expect.stringContaining('workers answer its calls'),
    });
    expect((await gateway.api('/api/pending')).items).toEqual([]);
  });

  test.each([
    [{ agentConfig: {} }, 'execution.agentConfig.instructions is missing'],
    [
      { agentConfig: { instructions: '', tools: [{ name: 'x', executionType: 'gateway' }] } },
      'agentConfig.tools[0].execution',
    ],
    [{ agentConfig: { instructions: '', mcp: {} } }, 'agentConfig.mcp is unknown'],
    [{ agentConfig: { instructions: '' }, includeContext: 'yes' }, 'execution.includeContext'],
    [{ agentConfig: { instructions: '' }, timeout: 0 }, 'execution.timeout'],
  ])('[X1] %j is refused with its path', async (execution, path) => {
    await expect(startTestGateway({ tools: { ask: ask(execution) } })).rejects.toThrow(path);
  });

  test('[X3] an internal sub-agent works the same, and a secret that one of its tools repeats is not in its answer', async () => {
    const expert = scriptedModel((request) =>
      resultsOf(request).length === 0 ? { toolName: 'leak' } : `It said ${resultsOf(request)[0]?.text}`,
    );
    const leak = tool({ description: 'Leaks.', inputSchema: z.object({}), execute: () => 'key s3cr3t-value!' });
    await using gateway = await startWith({
      model: calling(),
      models: { expert },
      tools: {
        leak,
        ask: {
          ...ask({ agentConfig: { model: 'expert', instructions: '', tools: ['leak'] } }),
          executionType: 'internal',
        },
      },
      secrets: ['A_KEY'],
      env: { A_KEY: 's3cr3t-value!' },
    });
    expect((await gateway.settled()).outcome.value).toBe('It said key [redacted]');
    expect(JSON.stringify(expert.requests)).not.toContain('s3cr3t-value!');
  });
});
