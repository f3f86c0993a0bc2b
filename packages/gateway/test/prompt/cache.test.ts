import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import { isFirstStep } from '../support/requests.ts';

const tools = {
  look_up: {
    tool: tool({
      description: 'Looks up an invoice.',
      inputSchema: z.object({ id: z.number() }),
      effects: 'none',
      execute: ({ id }) => ({ id, amount: 120 }),
    }),
  },
  confirm: { executionType: 'space', inputSchema: { type: 'object', properties: {} } },
  pay: {
    tool: tool({
      description: 'Pays.',
      inputSchema: z.object({ id: z.number() }),
      approval: true,
      execute: ({ id }) => `Paid ${id}.`,
    }),
  },
} as const;

/** The conversation of a request without its last part: the situation, if there is one, which is different in each. */
const conversationIn = (prompt: readonly LanguageModelV4Message[]): readonly LanguageModelV4Message[] =>
  hasSituation(prompt) ? prompt.slice(0, -1) : prompt;

const hasSituation = (prompt: readonly LanguageModelV4Message[]): boolean =>
  JSON.stringify(prompt.at(-1)).includes('<situation-');

const kept = ({ prompt }: LanguageModelV4CallOptions): readonly string[] =>
  conversationIn(prompt).map((message) => JSON.stringify(message));

/** Runs with questions, calls, goals, memories, calls that wait, and answers to them. */
async function conversation(
  open: OpenWorld,
  model: ReturnType<typeof script>,
): Promise<readonly LanguageModelV4CallOptions[]> {
  const world = await open({ models: { default: model }, tools });
  const [ada, bot] = [await world.person('Ada'), await world.agent('Clerk', { tools: Object.keys(tools) })];
  const space = await world.space('Invoices', [ada, bot]);
  for (let run = 0; run < 10; run++) {
    await world.say(space, ada, `Message ${run}`);
    await world.idle();
    const waiting = await world.store.db
      .selectFrom('calls')
      .select(['id as callId', 'run_id as runId', 'wait_kind'])
      .where('agent_id', '=', bot)
      .where('wait_status', '=', 'pending')
      .execute();
    for (const { wait_kind: kind, ...call } of waiting) {
      const given = kind === 'approval' ? { approve: true as const } : { result: { yes: true } };
      await answer(world.services, { ...call, answer: given, by: { entityId: ada } });
    }
    await world.idle();
  }
  return model.requests;
}

function script(provider = 'scripted') {
  const calls = [
    [{ toolName: 'enter_space', input: { spaceId: '1' } }],
    [
      { toolName: 'look_up', input: { id: 1 } },
      { toolName: 'send_message', input: { text: 'Found.' } },
    ],
    [{ toolName: 'set_goals', input: { goals: [{ description: 'Pay all' }] } }],
    [{ toolName: 'confirm', input: {} }],
    [{ toolName: 'set_memories', input: { memories: [{ key: 'bank', value: 'second' }] } }],
    [{ toolName: 'read_messages', input: { spaceId: '1' } }],
    [{ toolName: 'pay', input: { id: 4711 } }],
    [{ toolName: 'no_such_tool', input: {} }],
  ];
  const model = scriptedModel((request) =>
    isFirstStep(request) && calls.length > 0 ? (calls.shift() ?? []) : 'Done.',
  );
  return Object.defineProperty(model, 'provider', { value: provider });
}

describeWorlds('requests for prompt caches', (open) => {
  test('[K8] each of 20 requests begins with the whole previous request, except the situation, across runs', async () => {
    const requests = await conversation(open, script());
    expect(requests.length).toBeGreaterThanOrEqual(20);
    for (const [index, request] of requests.slice(1).entries()) {
      const before = requests[index] as LanguageModelV4CallOptions;
      // Providers put the tools first, then the system text, then the conversation.
      expect(JSON.stringify(request.tools)).toBe(JSON.stringify(before.tools));
      expect(kept(request).slice(0, kept(before).length)).toEqual(kept(before));
      expect(kept(request).length).toBeGreaterThan(kept(before).length);
    }
    // The situation is sent once it has content: the script sets a goal.
    expect(requests.map(({ prompt }) => hasSituation(prompt))).toEqual(
      requests.map(
        (_request, at) => at > requests.findIndex(({ prompt }) => JSON.stringify(prompt).includes('set_goals')) - 1,
      ),
    );
  });

  const marksOf = (prompt: readonly LanguageModelV4Message[]): number[] =>
    prompt.flatMap(({ providerOptions }, at) =>
      providerOptions?.anthropic?.cacheControl === undefined ? [] : [at - prompt.length],
    );

  test('[K8] Anthropic gets marks: at the system text, and at the last message before the situation', async () => {
    const requests = await conversation(open, script('anthropic.messages'));
    for (const { prompt } of requests)
      expect(marksOf(prompt)).toEqual([-prompt.length, hasSituation(prompt) ? -2 : -1]);
    const bare = (message: LanguageModelV4Message): string =>
      JSON.stringify({ ...message, providerOptions: undefined });
    for (const [index, { prompt }] of requests.slice(1).entries()) {
      const before = conversationIn(requests[index]?.prompt ?? []).map(bare);
      expect(prompt.slice(0, before.length).map(bare)).toEqual(before);
    }
  });

  test('other providers get no marks', async () => {
    const [first] = await conversation(open, script('openai.responses'));
    expect(marksOf(first?.prompt ?? [])).toEqual([]);
  });
});
