import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Prompt, RenderOptions } from '../../src/contract/prompt.ts';
import { type Section, type SectionContext, section } from '../../src/contract/section.ts';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import { PromptRenderError } from '../../src/errors.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import { createSession } from '../../src/session/create-session.ts';
import { slice } from '../../src/session/slice.ts';
import { echo } from './echo.ts';

const mood = slice('mood', { initial: 'calm', on: { Alarmed: () => 'alarmed' } });
const build = (...sections: Section[]): Prompt => prompt({ ns: 'tests', key: 'p', sections });

function renderError(made: Prompt, options?: RenderOptions): PromptRenderError {
  try {
    made.render(options);
  } catch (error) {
    expect(error).toBeInstanceOf(PromptRenderError);
    return error as PromptRenderError;
  }
  throw new Error('It was rendered.');
}

const nested = (enabled: NonNullable<Section['enabled']>): Prompt =>
  build(
    section({
      key: 'a',
      title: 'A',
      template: 'Text of A.',
      enabled,
      tools: { one: echo },
      children: [section({ key: 'b', title: 'B', template: 'Text of B.', tools: { two: echo } })],
    }),
    section({ key: 'c', title: 'C', template: 'Text of C.', tools: { three: echo } }),
  );

test('[T43] enabled: false removes a section, its children and their tools', () => {
  for (const enabled of [false, () => false]) {
    const { system, tools } = nested(enabled).render();
    expect(system).toBe('## C\n\nText of C.');
    expect(Object.keys(tools)).toEqual(['three']);
  }
  expect(Object.keys(nested(() => true).render().tools)).toEqual(['one', 'two', 'three']);
});

test('[T43] the tools of a disabled section are unknown tools', async () => {
  const call = (toolName: string) =>
    dispatchCall({ instructions: nested(false), call: { toolName, input: { text: 'x' } } });
  expect((await call('two')).outcome).toMatchObject({ status: 'error', code: 'unknown_tool' });
  expect((await call('three')).outcome.status).toBe('ok');
});

test('[T43] a predicate is called at each rendering, with the session and the parameters', () => {
  const session = createSession({ slices: [mood] });
  const seen: SectionContext[] = [];
  const made = nested((ctx) => {
    seen.push(ctx);
    return ctx.session.read(mood) === 'alarmed';
  });
  expect(Object.keys(made.render({ session, params: { x: 1 } }).tools)).toEqual(['three']);
  session.dispatch({ type: 'Alarmed' });
  expect(Object.keys(made.render({ session, params: { x: 2 } }).tools)).toEqual(['one', 'two', 'three']);
  expect(seen.map(({ params }) => params)).toEqual([{ x: 1 }, { x: 2 }]);
  expect(seen[0]?.session).toBe(session);
});

test('[T43] a predicate sees the defaults of its section, and the given parameters even if they do not fit', () => {
  const seen: unknown[] = [];
  const made = build(
    section({
      key: 'a',
      title: 'A',
      template: '',
      params: z.object({ user: z.string(), lines: z.number().default(3) }),
      enabled: ({ params }) => {
        seen.push(params);
        return params.user !== undefined;
      },
    }),
  );
  expect(made.render({ params: { other: 1 } }).system).toBe('');
  made.render({ params: { user: 'Ada' } });
  expect(seen).toEqual([{ other: 1 }, { user: 'Ada', lines: 3 }]);
});

test("[T43] a predicate that throws is a render error with the section's path and the cause", () => {
  const cause = new RangeError('no such mood');
  const failing = (): never => {
    throw cause;
  };
  const at = (rest: Partial<Section>): Prompt =>
    build(
      section({
        key: 'a',
        title: 'A',
        template: '',
        children: [{ ...section({ key: 'b', title: 'B', template: '' }), ...rest }],
      }),
    );
  for (const rest of [{ enabled: failing }, { visibility: failing, summary: 'Short.' }, { template: failing }]) {
    const error = renderError(at(rest));
    expect(error).toMatchObject({ path: 'a.b', code: 'prompt_render', cause });
    expect(error.message).toMatch(/"a\.b".*RangeError: no such mood/);
  }
});

test('[T43] a predicate or a template that returns a wrong type or a promise is a render error', () => {
  const one = { key: 'a', title: 'A', template: '', summary: 'Short.' };
  const wrong: readonly object[] = [
    { enabled: async () => true },
    { enabled: () => 1 },
    { enabled: () => undefined },
    { visibility: () => 'none' },
    { visibility: async () => 'full' },
    { template: async () => 'text' },
    { template: () => undefined },
  ];
  for (const rest of wrong) expect(renderError(build(section({ ...one, ...rest } as never))).path).toBe('a');
});

test('[T43] a disabled section needs no parameters and calls no predicate below it', () => {
  const never = (): never => {
    throw new Error('asked');
  };
  const made = build(
    section({
      key: 'a',
      title: 'A',
      template: '{{user}}',
      params: z.object({ user: z.string() }),
      enabled: false,
      visibility: never,
      summary: 'Short.',
      children: [section({ key: 'b', title: 'B', template: never, enabled: never })],
    }),
  );
  expect(made.render()).toEqual({ system: '', tools: {} });
});
