import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import {
  type Clock,
  runTurn,
  streamTurn,
  type ToolSet,
  type Transcript,
  type TurnEvent,
  type TurnOptions,
  type TurnResult,
  tool,
} from '../../src/index.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import type { WireReply } from './wire-reply.ts';

export type Format = 'openai' | 'anthropic';

export interface How {
  readonly format: Format;
  readonly mode: 'whole' | 'streamed';
}

/** A turn that ran against a server until its end. */
interface Wire {
  readonly server: ModelServer;
  /** The events of a streamed turn. */
  readonly events: readonly TurnEvent[];
  readonly result: Promise<TurnResult>;
}

/** Runs a turn through the real provider package, against a server with that script. */
export async function wire(
  { format, mode }: How,
  script: readonly WireReply[],
  options: Partial<TurnOptions> = {},
): Promise<Wire> {
  await using server = await startModelServer(format, script);
  const events: TurnEvent[] = [];
  const all = { model: modelOf(format, server.url), prompt: 'Weather?', tools: tools as ToolSet, ...options };
  const result = mode === 'whole' ? runTurn(all) : drain(streamTurn(all), events);
  await result.catch(() => {});
  return { server, events, result };
}

/** The error that a turn ended with. */
export async function failureOf({ result }: Wire): Promise<{ readonly transcript: Transcript }> {
  return result.then(
    () => {
      throw new Error('The turn was expected to fail.');
    },
    (error: unknown) => error as { transcript: Transcript },
  );
}

async function drain(stream: ReturnType<typeof streamTurn>, events: TurnEvent[]): Promise<TurnResult> {
  for await (const event of stream) events.push(event);
  return stream.result;
}

export function modelOf(format: Format, baseURL: string): TurnOptions['model'] {
  return format === 'openai'
    ? createOpenAICompatible({ name: 'wire', baseURL, apiKey: 'key', includeUsage: true })('wire')
    : createAnthropic({ baseURL, apiKey: 'key' })('claude-wire');
}

export const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  effects: 'none',
  execute: ({ city }) => `Sunny in ${city}`,
});
export const answer = tool({
  description: 'Gives the final answer.',
  inputSchema: z.object({ text: z.string() }),
  terminal: true,
  execute: ({ text }) => `Answer: ${text}`,
});
export const tools = { weather, answer };

export const ask = (id: string, city: string) => ({ id, name: 'weather', arguments: JSON.stringify({ city }) });

/** A clock that does not advance, and the waits that were requested. */
export function instantClock(now: number = 0): Clock & { readonly slept: readonly number[] } {
  const slept: number[] = [];
  return { slept, now: () => now, sleep: async (ms) => void slept.push(ms) };
}

/** The status of each response, or why a request was refused by the rules of the format. */
export function statuses({ requests }: ModelServer): readonly unknown[] {
  return requests.map(({ status, problem }) => problem ?? status);
}

export function replyTexts({ entries }: Transcript): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'reply' ? [entry.text] : []));
}
