import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Prompt } from '../../src/contract/prompt.ts';
import { type Section, section } from '../../src/contract/section.ts';
import type { ToolContext } from '../../src/contract/tool-context.ts';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import type { Policy } from '../../src/policies/policy.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import { openedSections, type RunStarted } from '../../src/prompt/opened-sections.ts';
import type { Outcome } from '../../src/results/outcome.ts';
import { createSession, Session } from '../../src/session/create-session.ts';
import { echo } from './echo.ts';

const howTo = (key: string): string =>
  `---\n[Summarised. Call open_sections with key "${key}" to open it, or read_section with key "${key}" to read it once.]`;

const manual = prompt({
  ns: 'tests',
  key: 'manual',
  sections: [
    section({ key: 'base', title: 'Base', template: 'Always here.', tools: { walk: echo } }),
    section({
      key: 'fly',
      title: 'Flying',
      template: 'How {{who}} flies.',
      summary: '{{who}} can fly.',
      params: { who: 'the bird' },
      visibility: 'summary',
      tools: { fly: echo },
      children: [
        section({ key: 'land', title: 'Landing', template: 'Wheels first.', tools: { land: echo } }),
        section({
          key: 'night',
          title: 'At night',
          template: 'Use the stars.',
          summary: 'It is dark.',
          visibility: 'summary',
          tools: { glow: echo },
        }),
        section({ key: 'never', title: 'Never', template: 'Off.', enabled: false }),
      ],
    }),
    section({
      key: 'swim',
      title: 'Swimming',
      template: 'How to swim.',
      summary: 'There is water.',
      visibility: () => 'summary',
      tools: { swim: echo },
    }),
  ],
});

type Call = (toolName: string, input: object) => Promise<Outcome>;

function on(made: Prompt, session: Session, params: Record<string, unknown> = {}): Call {
  return async (toolName, input) =>
    (await dispatchCall({ instructions: made, session, params, call: { toolName, input } })).outcome;
}

const toolsOf = (made: Prompt, session: Session): string[] => Object.keys(made.render({ session }).tools);

describe('[T44] a summarised section', () => {
  test('shows its summary and how to open it, without its tools, its text and its children', () => {
    const { system, tools } = manual.render({ params: { who: 'the kite' } });
    expect(system).toBe(
      [
        '## Base\n\nAlways here.',
        `## Flying\n\nthe kite can fly.\n\n${howTo('fly')}`,
        `## Swimming\n\nThere is water.\n\n${howTo('swim')}`,
      ].join('\n\n'),
    );
    expect(Object.keys(tools)).toEqual(['walk', 'open_sections', 'read_section']);
  });

  test('has tools that are unknown until it is open', async () => {
    const session = createSession();
    const call = on(manual, session);
    expect(await call('fly', { text: 'up' })).toMatchObject({ status: 'error', code: 'unknown_tool' });
    await call('open_sections', { keys: ['fly'] });
    expect(await call('fly', { text: 'up' })).toMatchObject({ status: 'ok', value: 'up' });
  });

  test('may depend on the session and the parameters', () => {
    const asked = prompt({
      ns: 'tests',
      key: 'asked',
      sections: [
        section({
          key: 'a',
          title: 'A',
          template: 'All of it.',
          summary: 'Some of it.',
          params: z.object({ short: z.boolean().default(false) }),
          visibility: ({ params }) => (params.short === true ? 'summary' : 'full'),
        }),
      ],
    });
    expect(asked.render().system).toBe('## A\n\nAll of it.');
    expect(Object.keys(asked.render().tools)).toEqual([]);
    expect(asked.render({ params: { short: true } }).system).toContain('Some of it.');
  });
});

describe('[T44] open_sections', () => {
  test('opens sections for all renderings that follow, with their tools in reading order', async () => {
    const session = createSession();
    const outcome = await on(manual, session)('open_sections', { keys: ['fly'], reason: 'To fly.' });
    expect(outcome).toMatchObject({ status: 'ok', value: { opened: ['fly'], openings_left: 9 } });
    for (const _again of [1, 2]) {
      expect(toolsOf(manual, session)).toEqual(['walk', 'fly', 'land', 'open_sections', 'read_section']);
      expect(manual.render({ session }).system).toContain(
        `## Flying\n\nHow the bird flies.\n\n### Landing\n\nWheels first.\n\n### At night\n\nIt is dark.\n\n${howTo('fly.night')}`,
      );
    }
  });

  test('is not offered if nothing is summarised any more', async () => {
    const session = createSession();
    const call = on(manual, session);
    await call('open_sections', { keys: ['swim', 'fly'] });
    await call('open_sections', { keys: ['fly.night'] });
    expect(toolsOf(manual, session)).toEqual(['walk', 'fly', 'land', 'glow', 'swim']);
  });

  test('opens a section together with one above it, in any order', async () => {
    const session = createSession();
    expect((await on(manual, session)('open_sections', { keys: ['fly.night', 'fly'] })).status).toBe('ok');
    expect(toolsOf(manual, session)).toContain('glow');
  });

  test.each([
    ['an unknown key', ['nothing'], 'there is no section "nothing"'],
    ['a disabled section', ['fly.never'], 'there is no section "fly.never"'],
    ['a section that is in full', ['base'], '"base" is open already'],
    ['a section inside a summarised one', ['fly.night'], 'inside a summarised section'],
    ['one wrong key among right ones', ['swim', 'fly', 'nothing'], 'there is no section "nothing"'],
  ])('refuses %s, says what can be opened, and opens nothing', async (_case, keys, why) => {
    const session = createSession();
    const before = manual.render({ session }).system;
    const outcome = await on(manual, session)('open_sections', { keys });
    expect(outcome).toMatchObject({ status: 'error' });
    expect(outcome.text).toContain(why);
    expect(outcome.text).toContain('Summarised now: "fly", "swim".');
    expect(manual.render({ session }).system).toBe(before);
    expect(session.read(openedSections)).toEqual({ keys: [], openings: 0 });
  });

  test('refuses what was opened before', async () => {
    const call = on(manual, createSession());
    await call('open_sections', { keys: ['fly'] });
    const again = await call('open_sections', { keys: ['fly', 'swim'] });
    expect(again.text).toContain('"fly" is open already. Summarised now: "fly.night", "swim".');
  });

  test('counts a repeated key once', async () => {
    const session = createSession();
    expect((await on(manual, session)('open_sections', { keys: ['fly', 'fly'] })).status).toBe('ok');
    expect(session.read(openedSections).openings).toBe(1);
  });

  test.each([{}, { keys: [] }, { keys: 'fly' }, { keys: ['fly'], all: true }])(
    'refuses the input %j',
    async (input) => {
      expect(await on(manual, createSession())('open_sections', input)).toMatchObject({ code: 'invalid_input' });
    },
  );

  test('opens at most 10 sections: the eleventh fails, saying so, and can still be read', async () => {
    const session = createSession();
    const call = on(chapters(12), session);
    for (let n = 1; n <= 9; n++) expect((await call('open_sections', { keys: [`c${n}`] })).status).toBe('ok');
    const two = await call('open_sections', { keys: ['c10', 'c11'] });
    expect(two).toMatchObject({ status: 'error' });
    expect(two.text).toMatch(/at most 10 .*1 .*left/);
    expect((await call('open_sections', { keys: ['c10'] })).status).toBe('ok');
    const eleventh = await call('open_sections', { keys: ['c11'] });
    expect(eleventh.status).toBe('error');
    expect(eleventh.text).toContain('at most 10');
    expect((await call('read_section', { key: 'c11' })).text).toContain('Chapter 11 in full.');
    expect(session.read(openedSections).openings).toBe(10);
  });

  test('lasts until the end of the run: the next one starts with everything summarised and 10 openings', async () => {
    const session = createSession();
    const made = chapters(11);
    const call = on(made, session);
    const fresh = made.render({ session }).system;
    await call('open_sections', { keys: Array.from({ length: 10 }, (_, n) => `c${n + 1}`) });
    expect((await call('open_sections', { keys: ['c11'] })).status).toBe('error');
    session.dispatch<RunStarted>({ type: 'RunStarted' });
    expect(made.render({ session }).system).toBe(fresh);
    expect((await call('open_sections', { keys: ['c11'] })).status).toBe('ok');
  });

  test('is undone with its call, and by going back to a snapshot', async () => {
    const session = createSession();
    const denying: Policy = {
      name: 'no',
      afterCall: ({ toolName }) => (toolName === 'open_sections' ? { deny: 'no' } : true),
    };
    const call = { toolName: 'open_sections', input: { keys: ['fly'] } };
    await dispatchCall({ instructions: manual, session, call, policies: [denying] });
    expect(toolsOf(manual, session)).not.toContain('fly');
    const snapshot = session.snapshot();
    await dispatchCall({ instructions: manual, session, call });
    expect(toolsOf(manual, session)).toContain('fly');
    session.restore(snapshot);
    expect(toolsOf(manual, session)).not.toContain('fly');
  });

  test('keeps open sections across a restart', async () => {
    const session = createSession();
    await on(manual, session)('open_sections', { keys: ['fly'] });
    const again = Session.fromJSON(JSON.stringify(session), { slices: manual.slices });
    expect(toolsOf(manual, again)).toEqual(toolsOf(manual, session));
  });

  test('does not touch the section of the same key in another prompt', async () => {
    const session = createSession();
    const other = prompt({ ns: 'tests', key: 'other', sections: manual.sections });
    await on(manual, session)('open_sections', { keys: ['fly'] });
    expect(toolsOf(other, session)).not.toContain('fly');
    expect((await on(other, session)('open_sections', { keys: ['fly'] })).status).toBe('ok');
  });

  test("is checked by the prompt's policies", async () => {
    const closed = prompt({
      ns: 'tests',
      key: 'closed',
      sections: manual.sections,
      policies: [{ name: 'closed', beforeCall: () => ({ deny: 'not today' }) }],
    });
    expect(await on(closed, createSession())('open_sections', { keys: ['fly'] })).toMatchObject({ code: 'denied' });
  });
});

describe('[T44] read_section', () => {
  test('shows a section once, with its children, and changes nothing', async () => {
    const session = createSession();
    const before = [manual.render({ session }).system, session.read(openedSections)];
    const outcome = await on(manual, session, { who: 'the kite' })('read_section', { key: 'fly' });
    expect(outcome).toMatchObject({
      status: 'ok',
      text: `## Flying\n\nHow the kite flies.\n\n### Landing\n\nWheels first.\n\n### At night\n\nIt is dark.\n\n${howTo('fly.night')}`,
    });
    expect([manual.render({ session }).system, session.read(openedSections)]).toEqual(before);
    expect(await on(manual, session)('fly', { text: 'up' })).toMatchObject({ code: 'unknown_tool' });
  });

  test('reads sections inside a summarised one, and sections that are open already', async () => {
    const call = on(manual, createSession());
    expect((await call('read_section', { key: 'fly.night' })).text).toBe('### At night\n\nUse the stars.');
    expect((await call('read_section', { key: 'base' })).text).toBe('## Base\n\nAlways here.');
  });

  test.each(['nothing', '', 'fly.', 'fly.never', 'flyer', 'constructor'])(
    'refuses the key %j and lists the known ones',
    async (key) => {
      const outcome = await on(manual, createSession())('read_section', { key });
      expect(outcome).toMatchObject({
        status: 'error',
        message: `There is no section "${key}". Summarised now: "fly", "swim".`,
      });
    },
  );

  test('can be called in parallel, with the parameters of its own rendering', async () => {
    const session = createSession();
    const read = (who: string) => on(manual, session, { who })('read_section', { key: 'fly' });
    const [one, other] = await Promise.all([read('the crow'), read('the owl')]);
    expect(one.text).toContain('How the crow flies.');
    expect(other.text).toContain('How the owl flies.');
  });
});

test('[T44] changing the parameters after a rendering does not affect its tools', async () => {
  const params = { who: 'the crow' };
  const session = createSession();
  const { tools } = manual.render({ session, params });
  params.who = 'the owl';
  const { outcome } = await dispatchCall({ tools, session, call: { toolName: 'read_section', input: { key: 'fly' } } });
  expect(outcome.text).toContain('How the crow flies.');
});

test('[T44] a rendering inside a tool without effects works, and leaves no trace', async () => {
  const session = createSession();
  const looking = { ...echo, effects: 'none' as const };
  const { outcome } = await dispatchCall({
    session,
    tools: {
      look: {
        ...looking,
        execute: (_input: object, ctx: ToolContext) => manual.render({ session: ctx.session }).system,
      },
    },
    call: { toolName: 'look', input: { text: 'x' } },
  });
  expect(outcome).toMatchObject({ status: 'ok', value: manual.render().system });
  expect(Object.keys(session.toJSON().slices)).not.toContain(openedSections.name);
});

function chapters(count: number): Prompt {
  const chapter = (n: number): Section =>
    section({
      key: `c${n}`,
      title: `Chapter ${n}`,
      template: `Chapter ${n} in full.`,
      summary: `Chapter ${n}.`,
      visibility: 'summary',
    });
  return prompt({ ns: 'tests', key: 'book', sections: Array.from({ length: count }, (_, n) => chapter(n + 1)) });
}
