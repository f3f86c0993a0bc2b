import type { LanguageModelV3CallOptions, LanguageModelV4, LanguageModelV4FilePart } from '@ai-sdk/provider';
import { type Message, runTurn } from '@lastcall/core';
import { expect, test } from 'vitest';
import { attachedParts } from '../../src/domain/artifacts/attachment.ts';
import { modelFinder } from '../../src/models/find-model.ts';
import { PNG } from '../images/painter.ts';

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};

/** A model of the AI SDK's previous interface, and what it was asked. */
function openOldModel() {
  const asked: LanguageModelV3CallOptions[] = [];
  const model = {
    specificationVersion: 'v3',
    provider: 'acme',
    modelId: 'old',
    supportedUrls: {},
    async doGenerate(options: LanguageModelV3CallOptions) {
      asked.push(options);
      return { content: [{ type: 'text', text: 'Seen.' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
    },
    doStream: async () => Promise.reject(new Error('There is no listener.')),
  };
  const finder = modelFinder({
    model: undefined,
    modelUrl: undefined,
    models: { old: model as unknown as LanguageModelV4 },
    env: {},
    files: { read: async () => PNG, modelFiles: { old: ['image'] } },
  });
  return { finder, dataOfFile: () => fileIn(asked[0])?.data };
}

function fileIn({ prompt }: Pick<LanguageModelV3CallOptions, 'prompt'> = { prompt: [] }) {
  const parts = prompt.flatMap((message) => (message.role === 'user' ? message.content : []));
  return parts.find((part) => part.type === 'file');
}

const look = (file: LanguageModelV4FilePart): Message[] => [
  { role: 'user', content: [{ type: 'text', text: 'What is this?' }, file] },
];

test('[R38] a model of version 3 in a list of models gets images in the form of that version', async () => {
  const { finder, dataOfFile } = openOldModel();
  const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } } as const;
  const model = await finder.find(['missing', 'old']);
  expect((await runTurn({ model, messages: look(image) })).response).toBe('Seen.');
  expect(dataOfFile()).toBe('iVBORw0KGgo=');
});

test('[R38] a model of version 3 gets the attached files of messages in the form of that version', async () => {
  const { finder, dataOfFile } = openOldModel();
  const [file] = attachedParts([{ id: 'a1', name: 'plan.png', mediaType: 'image/png', bytes: PNG.length }]);
  expect(
    (await runTurn({ model: await finder.find('old'), messages: look(file as LanguageModelV4FilePart) })).response,
  ).toBe('Seen.');
  expect(dataOfFile()).toEqual(PNG);
});
