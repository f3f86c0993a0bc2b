import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestedCall } from '../../src/transcript/entry.ts';
import { type BatchPlan, type PlanRules, planBatch, type ToolTraits } from '../../src/turn/batch-plan.ts';

const plainTraits: ToolTraits = {
  terminal: false,
  transition: false,
  rewind: false,
  effects: 'external',
  needsApproval: false,
};
const kinds = {
  read: { ...plainTraits, effects: 'none' },
  write: { ...plainTraits, effects: 'session' },
  send: plainTraits,
  asked: { ...plainTraits, effects: 'none', needsApproval: true },
  end: { ...plainTraits, effects: 'none', terminal: true },
  listed: { ...plainTraits, effects: 'none' },
  leave: { ...plainTraits, effects: 'none', transition: true },
  back: { ...plainTraits, effects: 'none', rewind: true },
} as const satisfies Record<string, ToolTraits>;
type Kind = keyof typeof kinds | 'unknown';

const rules = (more: Partial<PlanRules> = {}): PlanRules => ({
  traitsOf: (name) => (Object.hasOwn(kinds, name) ? kinds[name as keyof typeof kinds] : undefined),
  listed: undefined,
  cancelRest: false,
  transitions: 'in-place',
  ...more,
});
const underContract = rules({ listed: new Set(['listed']) });
const calls = (...names: Kind[]): RequestedCall[] =>
  names.map((toolName, index) => ({ callId: `c${index}`, toolName, input: '{}' }));
const shape = (plan: BatchPlan): string[][] => plan.map((group) => group.map(({ toolName }) => toolName));
const anyCalls = fc
  .array(fc.constantFrom<Kind[]>(...(Object.keys(kinds) as Kind[]), 'unknown'), { maxLength: 30 })
  .map((names) => calls(...names));
const anyRules = fc.constantFrom(
  rules(),
  rules({ cancelRest: true }),
  underContract,
  rules({ ...underContract, cancelRest: true }),
);

test('[R1] a plan holds every call of the batch once, in call order', () => {
  fc.assert(
    fc.property(anyCalls, anyRules, (batch, given) => {
      expect(
        planBatch(batch, given)
          .flat()
          .map(({ callId }) => callId),
      ).toEqual(batch.map(({ callId }) => callId));
    }),
  );
});

test('[R3] only plain calls of known tools without effects and without approval share a group with others', () => {
  fc.assert(
    fc.property(anyCalls, anyRules, (batch, given) => {
      for (const group of planBatch(batch, given).filter(({ length }) => length > 1)) {
        for (const { toolName, role } of group) {
          expect(role).toBe('plain');
          expect(given.traitsOf(toolName)).toMatchObject({ effects: 'none', needsApproval: false });
        }
      }
    }),
  );
});

test('[R3] adjacent calls without effects are in one group, never in two adjacent groups', () => {
  expect(shape(planBatch(calls('read', 'read', 'read'), rules()))).toEqual([['read', 'read', 'read']]);
  const joins = (group: BatchPlan[number] | undefined): boolean =>
    group?.every(({ role, toolName }) => role === 'plain' && (toolName === 'read' || toolName === 'listed')) === true;
  fc.assert(
    fc.property(anyCalls, (batch) => {
      const plan = planBatch(batch, rules());
      for (const [index, group] of plan.entries()) expect(joins(group) && joins(plan[index + 1])).toBe(false);
    }),
  );
});

test.each<Kind>(['write', 'send', 'asked', 'end', 'leave', 'back', 'unknown'])(
  '[R3] a call of kind %s is a barrier: reads before and after it are in different groups',
  (kind) => {
    expect(shape(planBatch(calls('read', 'read', kind, 'read', 'read'), rules()))).toEqual([
      ['read', 'read'],
      [kind],
      ['read', 'read'],
    ]);
  },
);

test('[R3] a listed call is a barrier', () => {
  expect(shape(planBatch(calls('read', 'listed', 'read'), underContract))).toEqual([['read'], ['listed'], ['read']]);
});

test('[R3] under cancel-rest every call has its own group', () => {
  fc.assert(
    fc.property(anyCalls, (batch) => {
      expect(planBatch(batch, rules({ cancelRest: true })).every(({ length }) => length === 1)).toBe(true);
    }),
  );
});

test('[R16] under a contract only listed tools end the run: a terminal one that is not listed is plain', () => {
  const roles = (given: PlanRules): string[] =>
    planBatch(calls('end', 'listed', 'leave', 'back', 'unknown', 'send'), given)
      .flat()
      .map(({ role }) => role);
  expect(roles(rules())).toEqual(['terminal', 'plain', 'transition', 'rewind', 'plain', 'plain']);
  expect(roles(underContract)).toEqual(['plain', 'listed', 'transition', 'rewind', 'plain', 'plain']);
});

test('a plan can have 20,000 calls, or none', () => {
  expect(planBatch(calls(...Array.from({ length: 20_000 }, () => 'read' as const)), rules())).toHaveLength(1);
  expect(planBatch([], rules())).toEqual([]);
});

test('moving transitions to the end keeps the order of the others', () => {
  const plan = planBatch(calls('read', 'leave', 'read', 'write', 'leave', 'end'), rules({ transitions: 'last' }));
  expect(shape(plan)).toEqual([['read'], ['read'], ['write'], ['end'], ['leave'], ['leave']]);
  expect(plan.flat().map(({ place }) => place)).toEqual([0, 2, 3, 5, 1, 4]);
});
