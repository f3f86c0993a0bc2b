import { describe, expect, test } from 'vitest';
import { Transcript } from '../../src/index.ts';
import type { AnthropicRequest } from './anthropic-format.ts';
import type { WireRequest } from './model-server.ts';
import type { OpenAiRequest } from './openai-format.ts';
import { ask, failureOf, statuses, wire } from './run-wire.ts';
import type { WireReply } from './wire-reply.ts';

describe.each(['whole', 'streamed'] as const)('metadata of a provider, %s', (mode) => {
  test('[R39] thinking is sent back to Anthropic with its signature, and redacted thinking unchanged', async () => {
    const { server, result } = await wire(
      { format: 'anthropic', mode },
      [
        {
          reasoning: { text: 'Paris first.', signature: 'sig-1' },
          redacted: 'xyz==',
          text: 'Looking.',
          calls: [ask('c1', 'Paris'), ask('c2', 'Rome')],
        },
        { reasoning: { text: 'Now Oslo.', signature: 'sig-2' }, calls: [ask('c3', 'Oslo')] },
        { text: 'Sunny.' },
      ],
      { modelSettings: THINKING },
    );
    expect((await result).response).toBe('Sunny.');
    expect(statuses(server)).toEqual([200, 200, 200]);
    const { messages } = bodyOf<AnthropicRequest>(server.requests[2]);
    expect(messages[1]?.content.slice(0, 3)).toEqual([
      { type: 'thinking', thinking: 'Paris first.', signature: 'sig-1' },
      { type: 'redacted_thinking', data: 'xyz==' },
      { type: 'text', text: 'Looking.' },
    ]);
    expect(messages[3]?.content[0]).toEqual({ type: 'thinking', thinking: 'Now Oslo.', signature: 'sig-2' });
  });

  test('[R39] thinking survives being stored as JSON', async () => {
    const reasoning = { text: 'Paris first.', signature: 'sig-1' };
    const script: WireReply[] = [{ reasoning, calls: [ask('c1', 'Paris')] }, { status: 400 }];
    const failed = await wire({ format: 'anthropic', mode }, script, { modelSettings: THINKING });
    const { transcript } = await failureOf(failed);
    // The server of the second half issued the same thinking, in a reply that is never requested.
    const { server, result } = await wire({ format: 'anthropic', mode }, [{ text: 'Sunny.' }, { reasoning }], {
      modelSettings: THINKING,
      transcript: Transcript.fromJSON(JSON.stringify(transcript)),
      prompt: undefined as never,
    });
    expect((await result).response).toBe('Sunny.');
    expect(statuses(server)).toEqual([200]);
  });

  test('[R39] a thought signature on a call is sent back on the same call', async () => {
    const { server, result } = await wire({ format: 'openai', mode }, [
      { calls: [{ ...ask('c1', 'Paris'), signature: 'thought-1' }, ask('c2', 'Rome')] },
      { text: 'Sunny.' },
    ]);
    expect((await result).response).toBe('Sunny.');
    const { messages } = bodyOf<OpenAiRequest>(server.requests[1]);
    const sent = messages.find(({ role }) => role === 'assistant')?.tool_calls;
    expect(sent).toMatchObject([
      { function: { arguments: '{"city":"Paris"}' }, extra_content: { google: { thought_signature: 'thought-1' } } },
      { function: { arguments: '{"city":"Rome"}' } },
    ]);
    expect(sent?.[1]).not.toHaveProperty('extra_content');
  });

  test('[R16] [R39] if calls have signatures, nothing is trimmed', async () => {
    const calls = [
      { id: 'c1', name: 'answer', arguments: '{"text":"sun"}', signature: 'thought-1' },
      ask('c2', 'Paris'),
    ];
    const { result } = await wire({ format: 'openai', mode }, [{ calls }], { terminating: { toolIds: ['answer'] } });
    const { transcript } = await result;
    const shown = transcript.view().flatMap(({ role, content }) => (role === 'tool' ? content : []));
    expect(shown).toHaveLength(2);
  });

  test('[R39] a conversation that began with one provider continues with the other', async () => {
    const reasoning = { text: 'Hm.', signature: 'sig-1' };
    const first = await wire({ format: 'anthropic', mode }, [
      { reasoning, text: 'Looking.', calls: [ask('c1', 'Paris')] },
      { text: 'Sunny.' },
    ]);
    const { transcript } = await first.result;
    const second = await wire({ format: 'openai', mode }, [{ calls: [ask('c1', 'Rome')] }, { text: 'Sunny too.' }], {
      transcript,
      prompt: 'And Rome?',
    });
    const third = await wire({ format: 'anthropic', mode }, [{ text: 'Bye.' }, { reasoning }], {
      transcript: (await second.result).transcript,
      prompt: 'Thanks.',
    });
    expect((await third.result).response).toBe('Bye.');
    expect([...statuses(second.server), ...statuses(third.server)]).toEqual([200, 200, 200]);
  });
});

const THINKING = { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } } };

function bodyOf<Body>(request: WireRequest | undefined): Body {
  return request?.body as Body;
}
