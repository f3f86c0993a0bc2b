import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Message, runTurn, streamTurn, type TurnEvent, tool } from '../../src/index.ts';

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

/** A model with the previous interface version that returns scripted replies. */
function modelV3(
  replies: readonly LanguageModelV3Content[][],
): LanguageModelV3 & { asked: LanguageModelV3CallOptions[] } {
  const asked: LanguageModelV3CallOptions[] = [];
  const next = (options: LanguageModelV3CallOptions): LanguageModelV3Content[] => {
    asked.push(options);
    return replies[asked.length - 1] ?? [];
  };
  const finishReason = { unified: 'stop', raw: 'stop' } as const;
  return {
    specificationVersion: 'v3',
    provider: 'test',
    modelId: 'v3',
    supportedUrls: {},
    asked,
    doGenerate: async (options) => ({ content: next(options), finishReason, usage, warnings: [] }),
    doStream: async (options) => ({
      stream: new ReadableStream<LanguageModelV3StreamPart>({
        start(controller) {
          for (const part of next(options).flatMap(toParts)) controller.enqueue(part);
          controller.enqueue({ type: 'finish', finishReason, usage });
          controller.close();
        },
      }),
    }),
  };
}

function toParts(content: LanguageModelV3Content): LanguageModelV3StreamPart[] {
  if (content.type !== 'text') return [content as LanguageModelV3StreamPart];
  return [
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: content.text },
    { type: 'text-end', id: '0' },
  ];
}

const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' });
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: '{}' } as const;

test.each(['whole', 'streamed'])('[R1] a model of version 3 runs a turn, %s', async (mode) => {
  const model = modelV3([[call], [{ type: 'text', text: 'Done.' }]]);
  const options = { model, tools: { look }, prompt: 'Look!' };
  const events: TurnEvent[] = [];
  const stream = streamTurn(options);
  if (mode === 'streamed') for await (const event of stream) events.push(event);
  const result = mode === 'streamed' ? await stream.result : await runTurn(options);
  expect(result).toMatchObject({ response: 'Done.', steps: 2, usage: { inputTokens: 6, outputTokens: 4 } });
  expect(events.filter(({ type }) => type === 'text.delta')).toHaveLength(mode === 'streamed' ? 1 : 0);
});

test('[R38] files reach a model of version 3 in the form of that version', async () => {
  const url = new URL('https://example.org/a.png');
  const messages: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'file', mediaType: 'image', data: { type: 'data', data: 'QUJD' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
        { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'ABC' } },
      ],
    },
  ];
  const model = modelV3([[{ type: 'text', text: 'Nice.' }]]);
  await runTurn({ model, messages });
  expect(model.asked[0]?.prompt[0]?.content).toEqual([
    { type: 'file', mediaType: 'image/*', data: 'QUJD' },
    { type: 'file', mediaType: 'image/png', data: url },
    { type: 'file', mediaType: 'text/plain', data: new Uint8Array([65, 66, 67]) },
  ]);
});

test('[R38] files in results reach a model of version 3 in the form of that version', async () => {
  const url = new URL('https://example.org/a.pdf');
  const value = [
    { type: 'text', text: 'Here:' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([65, 66, 67]) } },
    { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'ABC' }, filename: 'a.txt' },
    { type: 'file', mediaType: 'application/pdf', data: { type: 'url', url } },
    { type: 'file', mediaType: 'image/png', data: { type: 'reference', reference: { test: 'f-1' } } },
  ] as const;
  const messages = [
    { role: 'user', content: 'Look!' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: {} }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'look', output: { type: 'content', value } }],
    },
  ] as unknown as Message[];
  const model = modelV3([[{ type: 'text', text: 'Nice.' }]]);
  await runTurn({ model, messages });
  expect(model.asked[0]?.prompt[2]?.content).toMatchObject([
    {
      output: {
        type: 'content',
        value: [
          { type: 'text', text: 'Here:' },
          { type: 'image-data', mediaType: 'image/png', data: 'QUJD' },
          { type: 'file-data', mediaType: 'text/plain', data: 'QUJD', filename: 'a.txt' },
          { type: 'file-url', url: 'https://example.org/a.pdf' },
          { type: 'image-file-id', fileId: { test: 'f-1' } },
        ],
      },
    },
  ]);
});

test('[R39] parts that version 3 does not have are not sent to it, and its metadata is sent back', async () => {
  const providerMetadata = { test: { signature: 's1' } };
  const model = modelV3([[{ ...call, providerMetadata }], [{ type: 'text', text: 'Done.' }]]);
  const messages: Message[] = [
    { role: 'user', content: 'Hello.' },
    {
      role: 'assistant',
      content: [
        { type: 'custom', kind: 'other.thing' },
        { type: 'text', text: 'Hi.' },
      ],
    },
    { role: 'user', content: 'Look!' },
  ];
  await runTurn({ model, tools: { look }, messages });
  const [, greeting, , called] = model.asked[1]?.prompt ?? [];
  expect(greeting?.content).toEqual([{ type: 'text', text: 'Hi.' }]);
  expect(called?.content).toMatchObject([{ type: 'tool-call', providerOptions: providerMetadata }]);
});
