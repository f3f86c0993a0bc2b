import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { buildModes, PluginError, plugin } from '../../src/doors/prompt.ts';
import { filterToolSet, type ToolSet, ToolSetError, tool } from '../../src/index.ts';
import { toolsNamedIn } from '../../src/plugin/named-tools.ts';

const plain = (description: string) =>
  tool({ description, inputSchema: z.object({}), effects: 'none', execute: () => description });
const draw = plain('Draws a card.');
const attack = plain('Attacks.');
const own: ToolSet = { draw, attack };

function thrownBy(act: () => unknown): PluginError {
  try {
    act();
  } catch (error) {
    if (error instanceof PluginError) return error;
    throw error;
  }
  throw new Error('It did not throw.');
}

describe('a plugin on its own', () => {
  test('[R41] returns prompt and tools per mode, from the given context', () => {
    const game = plugin({
      name: 'game',
      tools: (_: { seat: string }) => own,
      getAgentConfig: ({ seat }, mode, tools) => ({
        instructions: `You are ${seat}, in ${mode}.`,
        tools: filterToolSet(tools, 'include', mode === 'draw' ? ['draw'] : ['draw', 'attack']),
      }),
    });
    expect(game.getAgentConfig({ seat: 'north' }, 'draw')).toEqual({
      instructions: 'You are north, in draw.',
      tools: { draw },
    });
    expect(Object.keys(game.getAgentConfig({ seat: 'north' }, 'main').tools)).toEqual(['draw', 'attack']);
    expect(game.tools({ seat: 'north' })).toBe(own);
  });

  test('[R41] its instructions may be called prompt', () => {
    const game = plugin({
      name: 'game',
      tools: () => own,
      getAgentConfig: (_, mode, tools) => ({ prompt: `You are in ${mode}.`, tools }),
    });
    expect(game.getAgentConfig(undefined, 'main')).toEqual({ instructions: 'You are in main.', tools: own });
    const modes = buildModes({ plugins: [game], ctx: undefined, modes: ['main'] });
    expect(modes.main).toMatchObject({ instructions: 'You are in main.', tools: own });
  });

  test('[R41] instructions and a different prompt are refused', () => {
    const both = { instructions: 'One.', prompt: 'Another.', tools: own };
    const game = plugin({ name: 'game', tools: () => own, getAgentConfig: () => both });
    expect(thrownBy(() => game.getAgentConfig(undefined, 'main')).message).toBe(
      'Plugin "game", mode "main": instructions and prompt are two names of one thing. Give one of them.',
    );
  });

  test('[R41] an unknown name in the filter of a mode fails when the mode is built, naming plugin, mode and tool', () => {
    const game = plugin({
      name: 'game',
      tools: () => own,
      getAgentConfig: (_, __, tools) => ({ instructions: '', tools: filterToolSet(tools, 'exclude', ['atack']) }),
    });
    const error = thrownBy(() => game.getAgentConfig(undefined, 'main'));
    expect(error).toMatchObject({ code: 'plugin', plugin: 'game', mode: 'main', cause: expect.any(ToolSetError) });
    expect(error.message).toBe('Plugin "game", mode "main": There is no tool "atack"; did you mean "attack"?');
  });

  test('[R41] a prompt that names a tool its mode lacks fails when the mode is built, naming plugin, mode and tool', () => {
    const game = plugin({
      name: 'game',
      tools: () => own,
      getAgentConfig: (_, mode) => ({
        instructions: 'Draw with `draw`, then `attack`.',
        tools: mode === 'all' ? own : { draw },
      }),
    });
    expect(() => game.getAgentConfig(undefined, 'all')).not.toThrow();
    const error = thrownBy(() => game.getAgentConfig(undefined, 'draw'));
    expect(error).toMatchObject({ plugin: 'game', mode: 'draw' });
    expect(error.message).toContain('Plugin "game", mode "draw": its instructions name "attack"');
  });

  test.each([
    ['nothing', undefined, 'getAgentConfig() must return { instructions, tools }.'],
    ['a promise', Promise.resolve({ instructions: '', tools: {} }), 'instructions must be a text.'],
    ['no instructions', { tools: {} }, 'instructions must be a text.'],
    [
      'an array of tools',
      { instructions: '', tools: [draw] },
      'tools must be an object of tools by name, not an array',
    ],
  ])('[R41] a config that is %s is refused', (_, config, problem) => {
    const game = plugin({ name: 'game', tools: () => own, getAgentConfig: () => config as never });
    expect(thrownBy(() => game.getAgentConfig(undefined, 'main')).message).toContain(`mode "main": ${problem}`);
  });

  test('[R41] an error thrown by a plugin is kept as the cause', () => {
    const cause = new TypeError('no seat');
    const fails = (): never => {
      throw cause;
    };
    const game = plugin({ name: 'game', tools: fails, getAgentConfig: fails });
    expect(thrownBy(() => game.tools(undefined))).toMatchObject({ plugin: 'game', mode: undefined, cause });
    expect(thrownBy(() => game.getAgentConfig(undefined, 'main', own))).toMatchObject({ mode: 'main', cause });
  });

  test.each([
    ['no object', null, 'Plugin "(unnamed)": name must be a text that is not empty.'],
    ['an empty name', { name: ' ', tools: () => ({}) }, 'Plugin "(unnamed)": name must'],
    ['tools that are no function', { name: 'x', tools: {} }, 'Plugin "x": tools must be a function.'],
    ['no getAgentConfig', { name: 'x', tools: () => ({}) }, 'Plugin "x": getAgentConfig must be a function.'],
    ['hooks that are no object', hooked(7), 'Plugin "x": hooks must be an object.'],
    ['a hook nobody calls', hooked({ onTurnEnd: () => {} }), 'Plugin "x": hooks.onTurnEnd is not known'],
    ['policies without a name', hooked({ policies: [{}] }), 'Plugin "x": hooks.policies must be an array'],
    ['middleware without a name', hooked({ middleware: [{}] }), 'hooks.middleware[0]" must be an object with a name.'],
    [
      'a listener that is no function',
      hooked({ onStepFinish: 1 }),
      'Plugin "x": hooks.onStepFinish must be a function.',
    ],
  ])('[R41] a definition with %s is refused at once', (_, definition, problem) => {
    expect(thrownBy(() => plugin(definition as never)).message).toContain(problem);
  });
});

function hooked(hooks: unknown): object {
  return { name: 'x', tools: () => ({}), getAgentConfig: () => ({ instructions: '', tools: {} }), hooks };
}

describe('the texts that count as naming a tool', () => {
  const names = ['draw', 'end_turn', 'end-turn', 'e', 'constructor'];
  test.each([
    ['Use `draw`.', ['draw']],
    ['Use `draw(2)` or `draw {"n":2}`, or ` draw `.', ['draw']],
    ['Use ``draw``.', ['draw']],
    ['Like this:\n```js\nawait\ndraw({ n: 2 })\n```\n', ['draw']],
    ['Call end_turn.', ['end_turn']],
    ['Call "end_turn", at last', ['end_turn']],
    ['From `draw` to `end_turn`', ['draw', 'end_turn']],
    ['draw a card, e.g. one; at the end-turn step', []],
    ['the `draw pile` and `withdraw` and `draws`', []],
    ['weekend_turn, end_turns, end_turn_now', []],
    ['an open ` backtick and draw', []],
    ['``````', []],
    ['', []],
  ])('[R41] %j names %j', (text, named) => {
    expect(toolsNamedIn(text, names)).toEqual(named);
  });
});
