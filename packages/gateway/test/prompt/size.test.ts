import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { BUILT_IN_GROUPS, BUILT_IN_TOOLS } from '../../src/config/built-in-groups.ts';
import { renderExplanation } from '../../src/domain/agents/describe-agent.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { frameTagOf } from '../support/frames.ts';
import { inboxLines, systemOf, textsOf } from '../support/requests.ts';
import { tokensOf, toolTokens } from '../support/tokens.ts';

const OPERATOR = 'You pay invoices.';

describeWorlds('what the gateway adds to a request', (open) => {
  async function firstRequest(config: object = {}) {
    const model = scriptedModel(() => 'Noted.');
    const world = await open({ models: { default: model } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Clerk', { instructions: OPERATOR, ...config })];
    const space = await world.space('Invoices', [ada, bot]);
    await world.say(space, ada, 'Pay invoice 4711, amount 120.');
    await world.idle();
    const [request] = model.requests;
    if (request === undefined) throw new Error('The model was not asked.');
    return request;
  }

  test('[K5] it has at most 900 tokens, with all built-in tools and one short message', async () => {
    const request = await firstRequest();
    const { tools = [] } = request;
    expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.values(BUILT_IN_TOOLS).flat().toSorted());
    const system = systemOf(request).replace(OPERATOR, '');
    const texts = [system, ...textsOf(request.prompt)];
    const all = toolTokens(tools) + texts.reduce((sum, text) => sum + tokensOf(text), 0);
    expect(textsOf(request.prompt)).toHaveLength(1);
    expect(all).toBeLessThanOrEqual(900);
  });

  test('[K5] only the first line of a frame has the tag, which costs six tokens at most', async () => {
    const request = await firstRequest();
    const tag = frameTagOf(request);
    for (const text of textsOf(request.prompt))
      expect(
        text
          .split('\n')
          .map((line) => line.includes(tag))
          .lastIndexOf(true),
      ).toBe(0);
    expect(tokensOf(`<inbox-${tag}>`) - tokensOf('<inbox->')).toBeLessThanOrEqual(6);
  });

  test('[K7] a model reads lines in words, with short ids', async () => {
    const request = await firstRequest();
    expect(inboxLines(request)).toEqual([
      'Space 1 (Invoices), where you are Clerk:',
      'm1 Ada: Pay invoice 4711, amount 120.',
    ]);
    expect(JSON.stringify(request.prompt)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });

  test('[K5] an agent has only the groups of built-in tools that it names, and its rules mention no other tool', async () => {
    const { tools = [], ...request } = await firstRequest({ builtIns: ['memories'] });
    expect(tools.map(({ name }) => name)).toEqual(['set_memories', 'delete_memories']);
    for (const name of Object.values(BUILT_IN_TOOLS).flat()) expect(systemOf(request)).not.toContain(name);
  });

  test('an agent may have no built-in tools at all', async () => {
    expect((await firstRequest({ builtIns: [] })).tools ?? []).toEqual([]);
  });
});

describe('the rules', () => {
  const variants = [undefined, ['pay_invoice']].flatMap((listed) =>
    [true, false].flatMap((isAny) =>
      (['text', 'tools'] as const).flatMap((replies) =>
        [BUILT_IN_GROUPS, []].map((builtIns) => ({ listed, isAny, replies, builtIns })),
      ),
    ),
  );

  test.each(variants)('they have at most 180 words with %o', (rules) => {
    const words = renderExplanation(rules).match(/[\w<>'-]+/g) ?? [];
    expect(words.length).toBeLessThanOrEqual(180);
  });

  test('[K5] they say how the text of a model is used', () => {
    const rules = { listed: undefined, isAny: false };
    expect(renderExplanation({ ...rules, replies: 'text' })).toMatch(/Your last text is posted as your reply/);
    expect(renderExplanation({ ...rules, replies: 'tools' })).toMatch(/Your text is private: no one reads it\./);
    // Under a contract a run does not end with text.
    const contract = { ...rules, listed: ['pay_invoice'], replies: 'text' as const };
    expect(renderExplanation(contract)).toMatch(/Your text is private/);
  });
});
