import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { runTurn, streamTurn, type TurnEvent, type TurnOptions, type TurnResult } from '../../src/index.ts';
import { recordModel, replayModel } from '../../src/testing/index.ts';
import { startModelServer } from '../wire/model-server.ts';
import { ask, instantClock, tools } from '../wire/run-wire.ts';
import type { WireReply } from '../wire/wire-reply.ts';
import { cassettePath } from './cassette-path.ts';

const API_KEY = 'sk-live-0123456789abcdef0123456789abcdef';

const PROVIDERS: Readonly<
  Record<string, { format: 'openai' | 'anthropic'; create: (baseURL: string) => LanguageModelV4 }>
> = {
  '@ai-sdk/openai': {
    format: 'openai',
    create: (baseURL) => createOpenAI({ baseURL, apiKey: API_KEY }).chat('gpt-wire') as LanguageModelV4,
  },
  '@ai-sdk/openai-compatible': {
    format: 'openai',
    create: (baseURL) =>
      createOpenAICompatible({ name: 'wire', baseURL, apiKey: API_KEY, includeUsage: true })('wire') as LanguageModelV4,
  },
  '@ai-sdk/anthropic': {
    format: 'anthropic',
    create: (baseURL) => createAnthropic({ baseURL, apiKey: API_KEY })('claude-wire') as LanguageModelV4,
  },
};

const MODES = ['whole', 'streamed'] as const;

interface Ran {
  readonly result: TurnResult;
  readonly events: readonly TurnEvent[];
}

async function run(model: LanguageModelV4, mode: (typeof MODES)[number], prompt = 'Weather?'): Promise<Ran> {
  const options: TurnOptions = { model, prompt, tools, clock: instantClock(), instructions: 'Help.' };
  if (mode === 'whole') return { result: await runTurn(options), events: [] };
  const events: TurnEvent[] = [];
  const turn = streamTurn(options);
  for await (const event of turn) events.push(event);
  return { result: await turn.result, events };
}

/** The parts that a replay has to repeat, without the ids that core creates. */
const outcomes = ({ result }: Ran) => ({
  stop: result.stop,
  response: result.response,
  usage: result.usage,
  settlements: result.settlements.map(({ toolName, input, outcome }) => ({ toolName, input, outcome })),
});
const deltas = ({ events }: Ran) => events.flatMap((event) => (event.type === 'text.delta' ? [event.text] : []));

describe.each(Object.entries(PROVIDERS))('a cassette of %s', (_name, { format, create }) => {
  describe.each(MODES)('%s', (mode) => {
    const record = async (script: readonly WireReply[]): Promise<{ ran: Ran; path: string }> => {
      await using server = await startModelServer(format, script);
      const path = await cassettePath();
      return { ran: await run(recordModel(create(server.url), path), mode), path };
    };

    test('[E4] plays the same calls, texts, parts and usage back, without the server', async () => {
      const { ran, path } = await record([
        { text: 'One moment.', calls: [ask('a', 'Rome'), ask('b', 'Oslo')] },
        { text: 'It is sunny in Rome and Oslo.' },
      ]);
      expect(ran.result.settlements.map(({ outcome }) => outcome.text)).toEqual(['Sunny in Rome', 'Sunny in Oslo']);
      const again = await run(replayModel(path), mode);
      expect(outcomes(again)).toEqual(outcomes(ran));
      expect(deltas(again)).toEqual(deltas(ran));
      if (mode === 'streamed') expect(deltas(ran).length).toBeGreaterThan(2);
    });

    test('[E4] plays an error of the provider back, so that it is retried in the same way', async () => {
      const { ran, path } = await record([{ status: 429, headers: { 'retry-after': '1' } }, { text: 'Sunny.' }]);
      expect(ran.result.response).toBe('Sunny.');
      expect(outcomes(await run(replayModel(path), mode))).toEqual(outcomes(ran));
    });
  });

  test('[E4] a stream that breaks in the middle breaks again', async () => {
    const path = await cassettePath();
    await using server = await startModelServer(format, [{ text: 'It is sunny.', cut: 'error' }, { text: 'Sunny.' }]);
    const ran = await run(recordModel(create(server.url), path), 'streamed');
    expect(server.requests).toHaveLength(2);
    const again = await run(replayModel(path), 'streamed');
    expect(outcomes(again)).toEqual(outcomes(ran));
    expect(deltas(again)).toEqual(deltas(ran));
  });
});
