import { expect, test } from 'vitest';
import { DEFAULT_AGENT_LIMITS } from '../../../gateway/src/config/agent-limits.ts';
import { applyChanges, LIMITS, readConfigDraft, toConfigDraft } from '../../src/pages/agent/config/config-draft.ts';
import { changesBetween } from '../../src/parts/form/changes-between.ts';

const config = {
  name: 'Concierge',
  instructions: 'Be kind.',
  tools: ['add', { name: 'own', executionType: 'space' as const }],
  replies: 'tools' as const,
  limits: { maxSteps: 7 },
  batch: { onError: 'continue' as const },
};

test('[S7] a configuration survives the form, with parts that the form does not show', () => {
  expect(readConfigDraft(toConfigDraft(config))).toEqual({ config, problems: [] });
});

test('[A1] an agent with a definition needs no instructions, and one without keeps them, even if they are empty', () => {
  const clerk = { name: 'Clerk', definition: 'clerk' };
  expect(readConfigDraft(toConfigDraft(clerk)).config).toEqual(clerk);
  const draft = { ...toConfigDraft({ ...clerk, instructions: 'Be kind.' }), instructions: ' ' };
  expect(changesBetween({ ...clerk, instructions: 'Be kind.' }, readConfigDraft(draft).config)).toEqual({
    instructions: null,
  });
  expect(readConfigDraft({ ...draft, definition: undefined }).config).toEqual({ name: 'Clerk', instructions: ' ' });
});

test('[S7] limits that are not numbers are reported at their fields, and empty ones are left out', () => {
  const draft = { ...toConfigDraft(config), limits: { maxSteps: 'many', maxGoals: ' ', maxPlans: '3' } };
  const { config: read, problems } = readConfigDraft(draft);
  expect(problems).toEqual([{ path: 'limits.maxSteps', message: 'Write a whole number.' }]);
  expect(read.limits).toMatchObject({ maxPlans: 3 });
  expect(read.limits).not.toHaveProperty('maxGoals');
});

test('[S7] only fields that differ are sent, and a removed one is null', () => {
  const { batch: _, ...without } = config;
  const after = { ...without, instructions: 'Be brief.', description: 'New.' };
  expect(changesBetween(config, after)).toEqual({ instructions: 'Be brief.', description: 'New.', batch: null });
  // The order of keys does not matter.
  expect(changesBetween({ limits: { a: 1, b: 2 } }, { limits: { b: 2, a: 1 } })).toEqual({});
});

test('[S7] changes of one editor are applied to the version that another saved', () => {
  const theirs = { ...config, description: 'Theirs.', batch: { onError: 'cancel-rest' } };
  const mine = changesBetween(config, { name: 'Concierge', instructions: 'Mine.', tools: [], limits: { maxSteps: 7 } });
  expect(applyChanges(theirs, mine)).toEqual({
    name: 'Concierge',
    instructions: 'Mine.',
    tools: [],
    limits: { maxSteps: 7 },
    description: 'Theirs.',
  });
});

test('[S7] the form shows the defaults that the gateway has', () => {
  const { spend: _spend, ...numbers } = DEFAULT_AGENT_LIMITS;
  expect(LIMITS.map(({ key }) => key).toSorted()).toEqual(Object.keys(numbers).toSorted());
});

test('[K12] the form keeps and changes spend limits', () => {
  const spend = { perRun: 0.5, perDayTokens: 1_000, currency: 'EUR' };
  const draft = toConfigDraft({ ...config, limits: { maxSteps: 7, spend } });
  expect(readConfigDraft(draft).config.limits).toEqual({ maxSteps: 7, spend });
  const changed = { ...draft, limits: { ...draft.limits, 'spend.perDay': '2.5', 'spend.perRun': '' } };
  const perDay = { perDay: 2.5, perDayTokens: 1_000, currency: 'EUR' };
  expect(readConfigDraft(changed).config.limits).toEqual({ maxSteps: 7, spend: perDay });
  const wrong = { ...draft, limits: { 'spend.perDay': 'much', 'spend.perDayTokens': '1.5' } };
  expect(readConfigDraft(wrong).problems.map(({ path }) => path)).toEqual([
    'limits.spend.perDay',
    'limits.spend.perDayTokens',
  ]);
});
