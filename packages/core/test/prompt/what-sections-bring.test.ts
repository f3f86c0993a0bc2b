import { expect, test } from 'vitest';
import { section } from '../../src/contract/section.ts';
import type { ToolContext } from '../../src/contract/tool-context.ts';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import { OptionsError, SessionError } from '../../src/errors.ts';
import type { Policy } from '../../src/policies/policy.ts';
import { readBeforeWrite } from '../../src/policies/read-before-write.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import { createSession, Session } from '../../src/session/create-session.ts';
import { resource } from '../../src/session/resource.ts';
import { type Slice, slice } from '../../src/session/slice.ts';
import { tool } from '../../src/tools/tool.ts';
import { echo } from './echo.ts';

const counter = (name: string): Slice<number> => slice(name, { initial: 0, on: { Counted: (n) => n + 1 } });
const namesIn = (session: Session): string[] =>
  Object.keys(session.toJSON().slices).filter((name) => !name.startsWith('lastcall.'));

test('[T53] rendering registers the slices of the enabled sections and of all policies', () => {
  const watch = (name: string): Policy => ({ name, slices: [counter(name)] });
  const made = prompt({
    ns: 'tests',
    key: 'p',
    policies: [watch('of-prompt')],
    sections: [
      section({
        key: 'a',
        title: 'A',
        template: '',
        slices: [counter('of-section')],
        policies: [watch('of-section-policy')],
        tools: { act: { ...echo, slices: [counter('of-tool')], policies: [watch('of-tool-policy')] } },
        children: [section({ key: 'b', title: 'B', template: '', slices: [counter('of-child')] })],
      }),
      section({ key: 'off', title: 'Off', template: '', enabled: false, slices: [counter('of-disabled')] }),
    ],
  });
  const session = createSession();
  made.render({ session });
  made.render({ session });
  expect(namesIn(session).sort()).toEqual([
    'of-child',
    'of-prompt',
    'of-section',
    'of-section-policy',
    'of-tool',
    'of-tool-policy',
  ]);
  expect(made.slices.map(({ name }) => name)).toContain('of-disabled');
});

test('[T53] a tool can write to the slice of its section without further setup', async () => {
  const count = counter('count');
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({
        key: 'a',
        title: 'A',
        template: '',
        slices: [count],
        tools: {
          count: { ...echo, execute: (_input: object, ctx: ToolContext) => ctx.session.dispatch({ type: 'Counted' }) },
        },
      }),
    ],
  });
  const session = createSession();
  for (const text of ['one', 'two']) {
    await dispatchCall({ instructions: made, session, call: { toolName: 'count', input: { text } } });
  }
  expect(session.read(count)).toBe(2);
  expect(Session.fromJSON(session.toJSON(), { slices: made.slices }).read(count)).toBe(2);
});

test('[T53] the slices of a tool are among those of the prompt, so that a stored session can be read again', async () => {
  const count = counter('count');
  const counting = tool({
    description: 'Counts.',
    inputSchema: { type: 'object' },
    effects: 'session',
    slices: [count],
    execute: (_input, { session }) => session.dispatch({ type: 'Counted' }),
  });
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [section({ key: 'a', title: 'A', template: '', tools: { counting } })],
  });
  const session = createSession();
  await dispatchCall({ instructions: made, session, call: { toolName: 'counting' } });
  expect(Session.fromJSON(session.toJSON(), { slices: made.slices }).read(count)).toBe(1);
});

test('a rendering that fails registers nothing', () => {
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({ key: 'a', title: 'A', template: '', slices: [counter('count')] }),
      section({ key: 'b', title: 'B', template: '{{x}}', params: { x: undefined } }),
    ],
  });
  const session = createSession();
  expect(() => made.render({ session })).toThrow('"x" has no value');
  expect(namesIn(session)).toEqual([]);
});

test('a slice that the session has under another definition is refused', () => {
  const session = createSession({ slices: [counter('count')] });
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [section({ key: 'a', title: 'A', template: '', slices: [counter('count')] })],
  });
  expect(() => made.render({ session })).toThrow(SessionError);
});

test("a prompt's resources are available to its tools", async () => {
  const greeting = resource('greeting', { create: () => 'hello' });
  const made = prompt({
    ns: 'tests',
    key: 'p',
    resources: [greeting],
    sections: [
      section({
        key: 'a',
        title: 'A',
        template: '',
        tools: { greet: { ...echo, execute: (_input: object, ctx: ToolContext) => ctx.resources.get('greeting') } },
      }),
    ],
  });
  const { outcome } = await dispatchCall({ instructions: made, call: { toolName: 'greet', input: { text: '' } } });
  expect(outcome).toMatchObject({ status: 'ok', value: 'hello' });
});

test("[T48] a section's readBeforeWrite watches only the files of its own tools", async () => {
  const overwrite = tool({
    description: 'Overwrites a file.',
    inputSchema: { type: 'object', properties: {} },
    effects: 'session',
    execute: (_input, { filesystem }) => filesystem.writeText('a.txt', 'new'),
  });
  const session = createSession();
  await session.filesystem.writeText('a.txt', 'old');
  const made = prompt({
    ns: 'tests',
    key: 'p',
    sections: [
      section({ key: 'a', title: 'A', template: '', tools: { careful: overwrite }, policies: [readBeforeWrite()] }),
      section({ key: 'b', title: 'B', template: '', tools: { careless: overwrite } }),
    ],
  });
  const call = async (toolName: string) =>
    (await dispatchCall({ instructions: made, session, call: { toolName } })).outcome;
  expect(await call('careful')).toMatchObject({ status: 'error', code: 'denied' });
  expect((await call('careless')).status).toBe('ok');
});

test('an object that createSession() did not make is refused as a session', () => {
  const made = prompt({ ns: 'tests', key: 'p', sections: [] });
  expect(() => made.render({ session: {} as never })).toThrow(OptionsError);
  expect(made.render()).toEqual({ system: '', tools: {} });
});
