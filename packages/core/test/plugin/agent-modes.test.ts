import { expect, test } from 'vitest';
import { z } from 'zod';
import { buildModes, type Plugin, PluginError, plugin } from '../../src/doors/prompt.ts';
import {
  configureTools,
  createSession,
  filterToolSet,
  OptionsError,
  runTurn,
  type ToolSet,
  tool,
} from '../../src/index.ts';
import type { PluginHooks } from '../../src/plugin/plugin-hooks.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const plain = (description: string) => tool({ description, inputSchema: z.object({}), execute: () => description });
const core: ToolSet = { draw: plain('Draws.'), end_turn: tool({ ...plain('Ends.'), terminal: true }) };
const battle: ToolSet = { declare_attack: plain('Attacks.') };

interface Offer {
  readonly name?: string;
  readonly brings?: ToolSet;
  readonly says?: string;
  readonly picks?: (tools: ToolSet, mode: string) => ToolSet;
  readonly hooks?: PluginHooks;
}

function offering({ name = 'battle', brings = {}, says = '', picks = (all) => all, hooks = {} }: Offer): Plugin {
  return plugin({
    name,
    tools: () => brings,
    getAgentConfig: (_, mode, tools) => ({ instructions: says, tools: picks(tools, mode) }),
    hooks,
  });
}

const only =
  (...names: readonly string[]) =>
  (tools: ToolSet): ToolSet =>
    filterToolSet(tools, 'include', names);

const build = (...plugins: readonly Plugin[]) =>
  buildModes({ plugins, tools: core, modes: ['start', 'main'], ctx: undefined });

test('[R41] a mode has the instructions of its plugins and the tools that they pick from their own, the others’ and the agent’s', () => {
  const modes = build(
    offering({
      brings: battle,
      says: '  Attack with `declare_attack`. ',
      picks: (tools, mode) => only(...(mode === 'main' ? ['draw', 'declare_attack'] : ['declare_attack']))(tools),
    }),
    offering({ name: 'manners', says: 'Be polite.', picks: only('draw') }),
    offering({ name: 'silent', picks: only('end_turn') }),
  );
  expect(modes).toEqual({
    start: {
      instructions: 'Attack with `declare_attack`.\n\nBe polite.',
      tools: { declare_attack: battle.declare_attack, draw: core.draw, end_turn: core.end_turn },
    },
    main: {
      instructions: 'Attack with `declare_attack`.\n\nBe polite.',
      tools: { draw: core.draw, declare_attack: battle.declare_attack, end_turn: core.end_turn },
    },
  });
});

test('[R41] every mode is built up front: one that cannot work fails then, not when a turn enters it', () => {
  const asked: string[] = [];
  const picks = (tools: ToolSet, mode: string): ToolSet => {
    asked.push(mode);
    return mode === 'main' ? only('daw')(tools) : tools;
  };
  expect(() => build(offering({ picks }))).toThrow(
    new PluginError({ plugin: 'battle', mode: 'main' }, 'There is no tool "daw"; did you mean "draw"?'),
  );
  expect(asked).toEqual(['start', 'main']);
});

test.each([
  ['of its own', 'Now `declare_attack`.', 'declare_attack'],
  ['of the agent', 'Now `draw`.', 'draw'],
  ['of another plugin', 'Now `bluff`.', 'bluff'],
])('[R41] instructions that name a tool %s, which the mode lacks, fail, naming their source', (_, says, named) => {
  const speaker = offering({ brings: battle, says, picks: only('end_turn') });
  const other = offering({ name: 'other', brings: { bluff: plain('Bluffs.') }, picks: only('end_turn') });
  expect(() => build(other, speaker)).toThrow(`Plugin "battle", mode "start": its instructions name "${named}"`);
});

test('[R41] a tool that another plugin brings into the mode may be named', () => {
  const speaker = offering({ name: 'speaker', says: 'Now `declare_attack`.', picks: () => ({}) });
  const bringer = offering({ brings: battle, picks: only('declare_attack') });
  expect(Object.keys(build(speaker, bringer).main.tools)).toEqual(['declare_attack']);
});

test('[R41] a tool name from two plugins fails, naming both', () => {
  expect(() => build(offering({ brings: { draw: plain('Draws, too.') } }))).toThrow(
    'Plugin "battle": brings a tool "draw", and the agent has one of that name.',
  );
  expect(() => build(offering({ brings: battle }), offering({ name: 'other', brings: battle }))).toThrow(
    'Plugin "other": brings a tool "declare_attack", and plugin "battle" has one of that name.',
  );
});

test('[R41] two different tools under one name in a mode fail, naming plugin, mode and tool', () => {
  const changed = (tools: ToolSet): ToolSet => configureTools(only('draw')(tools), { draw: { terminal: true } });
  expect(() => build(offering({}), offering({ name: 'other', picks: changed }))).toThrow(
    'Plugin "other", mode "start": another plugin offers a different tool named "draw" in this mode.',
  );
});

test('[R41] a tool that cannot work fails when its mode is built', () => {
  const broken = { ...plain('Breaks.'), timeoutMs: -1 };
  expect(() => build(offering({ brings: { broken } }))).toThrow(
    'Plugin "battle", mode "start": Tool "broken": timeoutMs must be a number of milliseconds above 0',
  );
});

test('[R41] invalid modes and plugins are refused, naming the option', () => {
  const ctx = undefined;
  expect(() => buildModes({ plugins: [], modes: [], ctx })).toThrow(OptionsError);
  expect(() => buildModes({ plugins: [], modes: ['__proto__'], ctx })).toThrow('Option "modes" must not have');
  expect(() => buildModes({ plugins: {} as never, modes: ['main'], ctx })).toThrow('Option "plugins" must be an array');
  expect(() => buildModes({ plugins: [{ name: 'x' } as never], modes: ['main'], ctx })).toThrow(PluginError);
  expect(() => build(offering({}), offering({}))).toThrow('Plugin "battle": is there twice.');
  expect(() => buildModes({ plugins: [], modes: ['main'], ctx, tools: [] as never })).toThrow('Option "tools" must be');
});

test('[R41] a plugin written as a plain object follows the same rules', () => {
  const raw = { name: 'raw', tools: () => battle, getAgentConfig: () => ({ instructions: 'Now `draw`.', tools: {} }) };
  expect(() => build(raw)).toThrow('Plugin "raw", mode "start": its instructions name "draw"');
});

test('[R41] tools may be a function of the step, so that a turn changes its mode', async () => {
  const modes = build(
    offering({ brings: battle, picks: (tools, mode) => only(...(mode === 'start' ? ['draw'] : ['end_turn']))(tools) }),
  );
  const model = scriptedModel([
    [{ toolName: 'draw' }, { toolName: 'end_turn' }],
    [{ toolName: 'draw' }],
    [{ toolName: 'end_turn' }],
  ]);
  const steps: number[] = [];
  const result = await runTurn({
    model,
    prompt: 'Go.',
    session: createSession(),
    tools: ({ step }) => {
      steps.push(step);
      return step === 1 ? modes.start.tools : modes.main.tools;
    },
  });
  expect(result.settlements.map(({ toolName, outcome }) => [toolName, outcome.status])).toEqual([
    ['draw', 'ok'],
    ['end_turn', 'error'],
    ['draw', 'error'],
    ['end_turn', 'ok'],
  ]);
  expect(model.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
    ['draw'],
    ['end_turn'],
    ['end_turn'],
  ]);
  expect(result.stop).toEqual({ reason: 'end_turn', by: 'terminal', tool: 'end_turn' });
  expect([...new Set(steps)]).toEqual([1, 2, 3]);
});

test('[R41] a mode spreads into a turn: its instructions, tools and hooks are the turn’s', async () => {
  const seen: string[] = [];
  const hooksOf = (name: string): PluginHooks => ({
    policies: [
      { name: `${name}-rule`, beforeCall: ({ toolName }) => void seen.push(`${name} asked about ${toolName}`) },
    ],
    middleware: [
      {
        name: `${name}-wrap`,
        call: (next, { toolName }) => {
          seen.push(`${name} wraps ${toolName}`);
          return next();
        },
      },
    ],
    onStepFinish: ({ toolCalls }) => {
      seen.push(`${name} heard of ${toolCalls.map(({ toolName }) => toolName).join()}`);
      if (name === 'first') throw new Error('deaf');
    },
  });
  const errors: unknown[] = [];
  const silent = (): void => {};
  const { main } = build(
    offering({ name: 'first', says: 'Finish with `end_turn`.', hooks: hooksOf('first') }),
    offering({ name: 'second', hooks: hooksOf('second') }),
  );
  const model = scriptedModel([{ toolName: 'end_turn' }]);
  const logger = {
    debug: silent,
    info: silent,
    warn: silent,
    error: (...said: unknown[]) => void errors.push(said[1]),
  };
  await runTurn({ ...main, model, prompt: 'Go.', session: createSession({ logger }) });
  expect(seen).toEqual([
    'first asked about end_turn',
    'second asked about end_turn',
    'first wraps end_turn',
    'second wraps end_turn',
    'first heard of end_turn',
    'second heard of end_turn',
  ]);
  expect(errors).toEqual([new Error('deaf')]);
  expect(model.requests[0]?.prompt[0]).toMatchObject({
    role: 'system',
    content: expect.stringMatching(/^Finish with `end_turn`\.\n\n## Terminal Tools\n/),
  });
});
