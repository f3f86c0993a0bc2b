import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../../src/testing/index.ts';

const agents = [{ name: 'Poet', instructions: 'Write poems.' }];
const chat = { model: 'Poet', messages: [{ role: 'user', content: 'A poem.' }] };
const response = { model: 'Poet', input: 'A poem.' };

/** Each OpenAI field for model settings, and the settings in the request to the model. */
const HONOURED: readonly (readonly [path: string, sent: object, asked: object])[] = [
  ['/v1/chat/completions', { temperature: 0.3 }, { temperature: 0.3 }],
  ['/v1/chat/completions', { temperature: 0 }, { temperature: 0 }],
  ['/v1/chat/completions', { top_p: 0.5 }, { topP: 0.5 }],
  ['/v1/chat/completions', { max_tokens: 50 }, { maxOutputTokens: 50 }],
  ['/v1/chat/completions', { max_completion_tokens: 60, max_tokens: 50 }, { maxOutputTokens: 60 }],
  ['/v1/chat/completions', { reasoning_effort: 'low' }, { reasoning: 'low' }],
  ['/v1/chat/completions', { reasoning_effort: 'none' }, { reasoning: 'none' }],
  ['/v1/chat/completions', { seed: 0 }, { seed: 0 }],
  ['/v1/chat/completions', { stop: 'END' }, { stopSequences: ['END'] }],
  ['/v1/chat/completions', { stop: ['A', 'B'] }, { stopSequences: ['A', 'B'] }],
  ['/v1/chat/completions', { stop: ['', 'B'] }, { stopSequences: ['B'] }],
  ['/v1/responses', { temperature: 0.3 }, { temperature: 0.3 }],
  ['/v1/responses', { top_p: 0.5 }, { topP: 0.5 }],
  ['/v1/responses', { max_output_tokens: 50 }, { maxOutputTokens: 50 }],
  ['/v1/responses', { reasoning: { effort: 'high' } }, { reasoning: 'high' }],
];

const REFUSED: readonly (readonly [path: string, sent: object, field: string])[] = [
  ['/v1/chat/completions', { reasoning_effort: 'enormous' }, 'reasoning_effort'],
  ['/v1/chat/completions', { max_output_tokens: 5 }, 'max_output_tokens'],
  ['/v1/chat/completions', { max_tokens: 0 }, 'max_tokens'],
  ['/v1/chat/completions', { reasoning: { effort: 'low' } }, 'reasoning'],
  ['/v1/chat/completions', { verbosity: 'low' }, 'verbosity'],
  ['/v1/chat/completions', { top_k: 5 }, 'top_k'],
  ['/v1/chat/completions', { max_tool_calls: 1 }, 'max_tool_calls'],
  ['/v1/chat/completions', { background: true }, 'background'],
  ['/v1/chat/completions', { tool_choice: 'required' }, 'tool_choice'],
  ['/v1/responses', { tool_choice: { type: 'function', name: 'add' } }, 'tool_choice'],
  ['/v1/responses', { max_tokens: 5 }, 'max_tokens'],
  ['/v1/responses', { max_completion_tokens: 5 }, 'max_completion_tokens'],
  ['/v1/responses', { reasoning_effort: 'low' }, 'reasoning_effort'],
  ['/v1/responses', { reasoning: { effort: 'enormous' } }, 'reasoning.effort'],
  ['/v1/responses', { seed: 0 }, 'seed'],
  ['/v1/responses', { stop: ['END'] }, 'stop'],
  ['/v1/responses', { text: { verbosity: 'high' } }, 'text.verbosity'],
];

describe('model settings of /v1', () => {
  it('[K9] each field for model settings is used', async () => {
    const model = scriptedModel(() => 'Roses.');
    await using gateway = await startTestGateway({ model, agents });
    for (const [path, sent, asked] of HONOURED) {
      const body = { ...(path === '/v1/responses' ? response : chat), ...sent };
      expect((await gateway.request(path, body)).status, `${path} ${JSON.stringify(sent)}`).toBe(200);
      expect(model.requests.at(-1), `${path} ${JSON.stringify(sent)}`).toMatchObject(asked);
    }
    expect(model.requests).toHaveLength(HONOURED.length);
  });

  it('[K9] an empty stop is no stop sequence, which providers would refuse', async () => {
    const model = scriptedModel(() => 'Roses.');
    await using gateway = await startTestGateway({ model, agents });
    for (const stop of ['', [''], []]) {
      expect((await gateway.request('/v1/chat/completions', { ...chat, stop })).status).toBe(200);
      expect(model.requests.at(-1)).not.toHaveProperty('stopSequences');
    }
  });

  it('[K9] or is refused, with its name, and no model is asked', async () => {
    const model = scriptedModel(() => 'Roses.');
    await using gateway = await startTestGateway({ model, agents });
    for (const [path, sent, field] of REFUSED) {
      const refused = await gateway.request(path, { ...(path === '/v1/responses' ? response : chat), ...sent });
      expect(refused.status, `${path} ${JSON.stringify(sent)}`).toBe(400);
      expect(await refused.text()).toContain(field);
    }
    expect(model.requests).toEqual([]);
  });

  it('[K11] its usage has cached tokens, and says if it is estimated', async () => {
    const usage = {
      inputTokens: { total: 100, noCache: undefined, cacheRead: 60, cacheWrite: undefined },
      outputTokens: { total: 0, text: undefined, reasoning: undefined },
    };
    const model = scriptedModel(() => ({ text: 'Roses are red.', usage }));
    await using gateway = await startTestGateway({ model, agents });
    const { usage: ofChat } = await gateway.api('/v1/chat/completions', chat);
    expect(ofChat).toMatchObject({ prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60 }, estimated: true });
    expect(ofChat.completion_tokens).toBeGreaterThan(0);
    const { usage: ofResponse } = await gateway.api('/v1/responses', response);
    expect(ofResponse).toMatchObject({ input_tokens_details: { cached_tokens: 60 }, estimated: true });
  });

  it('[K11] its usage has the tokens of reasoning', async () => {
    const usage = {
      inputTokens: { total: 100, noCache: 100, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 90, text: 20, reasoning: 70 },
    };
    const model = scriptedModel(() => ({ text: 'Roses are red.', usage }));
    await using gateway = await startTestGateway({ model, agents });
    const { usage: ofChat } = await gateway.api('/v1/chat/completions', chat);
    expect(ofChat).toMatchObject({ completion_tokens: 90, completion_tokens_details: { reasoning_tokens: 70 } });
    const { usage: ofResponse } = await gateway.api('/v1/responses', response);
    expect(ofResponse).toMatchObject({ output_tokens: 90, output_tokens_details: { reasoning_tokens: 70 } });
  });
});
