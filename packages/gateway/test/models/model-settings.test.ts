import type { LanguageModelV4 } from '@ai-sdk/provider';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../src/testing/index.ts';

const agent = { name: 'Poet', instructions: 'Write poems.', settings: { temperature: 0.9, maxOutputTokens: 500 } };

describe('settings of a model', () => {
  it('[K9] an agent has settings, which a chat request can override for itself', async () => {
    const model = scriptedModel(['Roses.', 'Violets.', 'Daisies.']);
    await using gateway = await startTestGateway({ model, agents: [agent] });
    await gateway.api('/api/chat', { message: 'A poem.' });
    const settings = { temperature: 0, stopSequences: ['END'], reasoning: 'low', seed: 7 };
    await gateway.api('/api/chat', { message: 'A colder poem.', settings });
    await gateway.api('/api/chat', { message: 'Another.' });
    const [first, second, third] = model.requests;
    expect(first).toMatchObject({ temperature: 0.9, maxOutputTokens: 500 });
    expect(second).toMatchObject({ ...settings, maxOutputTokens: 500 });
    expect(third?.temperature).toBe(0.9);
    expect(third).not.toHaveProperty('stopSequences');
  });

  it('[K9] runs of the inbox and sub-agents have their own settings, and the OpenAI endpoint can override them', async () => {
    const model = scriptedModel([[{ toolName: 'muse', input: { task: 'Rhyme.' } }], 'Rhymed.', 'Done.', 'Hello.']);
    const muse = {
      executionType: 'internal' as const,
      inputSchema: { type: 'object', properties: { task: { type: 'string' } } },
      execution: {
        agentConfig: { instructions: 'Rhyme.', settings: { topP: 0.5, providerOptions: { acme: { mood: 'blue' } } } },
      },
    };
    await using gateway = await startTestGateway({ model, tools: { muse }, agents: [{ ...agent, tools: ['muse'] }] });
    const [{ id }] = (await gateway.api('/api/agents')).items;
    await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
    await expect.poll(() => model.requests.length).toBe(3);
    expect(model.requests[0]).toMatchObject({ temperature: 0.9 });
    expect(model.requests[1]).toMatchObject({ topP: 0.5, providerOptions: { acme: { mood: 'blue' } } });
    expect(model.requests[1]).not.toHaveProperty('temperature');
    const body = { model: 'Poet', messages: [{ role: 'user', content: 'Hello.' }], temperature: 0.1 };
    await gateway.api('/v1/chat/completions', body);
    expect(model.requests[3]).toMatchObject({ temperature: 0.1, maxOutputTokens: 500 });
  });

  it('[K9] unknown settings are refused', async () => {
    await using gateway = await startTestGateway({ agents: [agent] });
    const wrong = await gateway.request('/api/agents', { ...agent, settings: { temprature: 1 } });
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain('settings.temprature is unknown');
    const asked = await gateway.request('/api/chat', { message: 'Hi.', settings: { topK: 3 } });
    expect(asked.status).toBe(422);
  });

  it('[K9] the run reports settings that the provider does not support', async () => {
    const plain = scriptedModel(['Roses.']);
    const warnings = [{ type: 'unsupported' as const, feature: 'temperature', details: 'It is ignored.' }];
    const model: LanguageModelV4 = {
      ...plain,
      async doStream(options) {
        const { stream } = await plain.doStream(options);
        const started = new TransformStream({
          start: (controller) => controller.enqueue({ type: 'stream-start', warnings }),
        });
        return { stream: stream.pipeThrough(started) };
      },
    };
    await using gateway = await startTestGateway({ model, agents: [agent] });
    const { run_id } = await gateway.api('/api/chat', { message: 'A poem.' });
    const { items } = await gateway.api(`/api/runs/${run_id}/transcript`);
    const [reply] = items.filter(({ kind }: { kind: string }) => kind === 'reply');
    expect(reply.entry.warnings).toEqual(['unsupported: temperature It is ignored.']);
  });
});
