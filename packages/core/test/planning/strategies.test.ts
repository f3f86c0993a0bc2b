import { expect, test } from 'vitest';
import { PromptValidationError } from '../../src/errors.ts';
import { type PlanningOptions, planningSection } from '../../src/planning/planning-section.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';

const STRATEGIES = ['react', 'plan_act_reflect', 'goal_decompose_route_synthesise'] as const;
const textWith = (options?: PlanningOptions): string =>
  prompt({ ns: 'tests', key: 'p', sections: [planningSection(options)] }).render().system;

test('[T54] each strategy renders different instructions', () => {
  expect(new Set(STRATEGIES.map((strategy) => textWith({ strategy }))).size).toBe(3);
  expect(textWith({ strategy: 'react' })).toMatch(/Think:.*Act:.*Observe:/s);
  expect(textWith({ strategy: 'plan_act_reflect' })).toMatch(/Plan:.*Act:.*Reflect:/s);
  expect(textWith({ strategy: 'goal_decompose_route_synthesise' })).toMatch(/Goal:.*Decompose:.*Route:.*Synthesise:/s);
});

test('[T54] every strategy explains the four tools and shows their examples', () => {
  for (const strategy of STRATEGIES) {
    const text = textWith({ strategy });
    for (const name of ['setup_plan', 'add_step', 'update_step', 'read_plan'])
      expect(text).toContain(`- planning_${name} `);
    expect(text).toContain('Example of planning_setup_plan: ');
  }
});

test('[T54] react is the default', () => {
  for (const options of [undefined, {}]) expect(textWith(options)).toBe(textWith({ strategy: 'react' }));
});

test('[T54] a strategy may be named in upper case', () => {
  expect(textWith({ strategy: 'REACT' })).toBe(textWith({ strategy: 'react' }));
  expect(textWith({ strategy: 'PLAN_ACT_REFLECT' })).toBe(textWith({ strategy: 'plan_act_reflect' }));
  expect(textWith({ strategy: 'GOAL_DECOMPOSE_ROUTE_SYNTHESISE' })).toBe(
    textWith({ strategy: 'goal_decompose_route_synthesise' }),
  );
});

test.each(['React', ['react'], 'react ', '', 'constructor', '__proto__', null, 1])(
  '[T54] the strategy %j is refused',
  (strategy) => {
    const make = () => planningSection({ strategy: strategy as never });
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow('Strategies: react, plan_act_reflect, goal_decompose_route_synthesise.');
  },
);

test('a planning section has a default key and title, which can be changed', () => {
  expect(planningSection()).toMatchObject({ key: 'planning', title: 'Planning' });
  expect(textWith({ key: 'todo', title: 'To do' })).toMatch(/^## To do\n/);
});
