import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  charter,
  createMachine,
  node,
  pack,
  type RunMachineOptions,
  runMachine,
  runMachineToCompletion,
  suspend,
  to,
} from '../../src/index.ts';
import { outcomes, run } from '../kit.ts';

const plain = node({ instructions: 'plain' });
const inNode = (definition: object) => charter({ nodes: { a: node({ instructions: 'a', ...definition } as never) } });
const machineOf = (definition: object) => createMachine(inNode(definition), { root: 'a' as never });

describe('a schema that could never hold state is refused when the charter is built', () => {
  const cases: Record<string, [state: unknown, says: string]> = {
    'an object of schemas in the place of one': [{ n: z.number() }, 'z.object({ … })'],
    'an example of the state': [{ n: 0 }, 'z.object({ … })'],
    'a schema of a text': [z.string(), 'not of type "string"'],
    'a JSON Schema of a list': [{ type: 'array' }, 'not of type "array"'],
  };
  for (const [what, [state, says]] of Object.entries(cases)) {
    test(`${what}, in a node and in a pack`, () => {
      expect(() => inNode({ state })).toThrow(says);
      const bag = pack({ name: 'bag', state: state as z.ZodType<object>, initialState: {} });
      expect(() => charter({ nodes: { plain }, packs: [bag] })).toThrow(says);
    });
  }

  test('a schema that accepts anything, and one with references, are fine', () => {
    for (const state of [{}, { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }, { type: ['object', 'null'] }])
      expect(inNode({ state }).nodeNames).toEqual(['a']);
  });
});

describe('instructions that are not text are not sent to a model', () => {
  const bad: Record<string, [instructions: () => unknown, says: string]> = {
    'a promise': [async () => 'late', 'returned a promise'],
    nothing: [() => undefined, 'returned nothing'],
    'a number': [() => 5, 'returned a number'],
  };
  for (const [what, [instructions, says]] of Object.entries(bad)) {
    test(`instructions that return ${what} fail the run, in a node and in a pack`, async () => {
      const model = scriptedModel([]);
      const result = await runMachineToCompletion(machineOf({ instructions }), { model, input: 'Go.' });
      expect(() => result.response).toThrow(says);
      const bag = pack({ name: 'bag', state: z.object({}), instructions: instructions as () => string });
      const made = charter({ nodes: { a: node({ instructions: 'a', packs: [bag] }) }, packs: [bag] });
      const other = await runMachineToCompletion(createMachine(made, { root: 'a' }), { model, input: 'Go.' });
      expect(() => other.response).toThrow(
        `The instructions of the pack "bag" must return a text synchronously, and ${says}`,
      );
      expect(model.requests).toEqual([]);
    });
  }
});

describe('the errors for misuse say what is expected', () => {
  test('charters and packs', () => {
    expect(() => charter({ nodes: plain as never })).toThrow('nodes: must be { name: node }, not a node itself.');
    expect(() => charter({ nodes: { plain }, packs: null as never })).toThrow('packs: must be an array of packs.');
    const odd = pack({ name: 'odd', state: z.object({}), instructions: 3 as never });
    expect(() => charter({ nodes: { plain }, packs: [odd] })).toThrow('packs.odd.instructions: must be a text');
    const slow = { commands: { go: { timeoutMs: -1, execute: () => 1 } } };
    expect(() => inNode(slow)).toThrow('nodes.a.commands.go: timeoutMs must be');
    const session = { root: 'plain', session: {} as never } as const;
    expect(() => createMachine(charter({ nodes: { plain } }), session)).toThrow('session: must be a function');
  });

  test('a pack without initial state starts with the defaults of its schema, as a node does', () => {
    const bag = pack({ name: 'bag', state: z.object({ n: z.number().default(1) }) });
    const made = charter({ nodes: { plain }, packs: [bag] });
    expect(createMachine(made, { root: 'plain' }).tree.packs).toEqual({ bag: { n: 1 } });
    const strict = pack({ name: 'strict', state: z.object({ n: z.number() }) });
    expect(() => charter({ nodes: { plain }, packs: [strict] })).toThrow('packs.strict.initialState.n');
  });

  test('ctx.pack takes a pack or its name', async () => {
    const bag = pack({ name: 'bag', state: z.object({ n: z.number().default(1) }) });
    const a = node({
      instructions: 'a',
      packs: [bag],
      commands: {
        byPack: (_input, ctx) => ctx.pack(bag).n,
        byName: (_input, ctx) => ctx.pack('bag').n,
        unknown: (_input, ctx) => ctx.pack('bog'),
        none: (_input, ctx) => ctx.pack(undefined as never),
      },
    });
    const machine = createMachine(charter({ nodes: { a }, packs: [bag] }), { root: 'a' });
    expect(await machine.command('byPack')).toBe(1);
    expect(await machine.command('byName', {}, null as never)).toBe(1);
    await expect(machine.command('unknown')).rejects.toThrow('packs.bog: "a" does not use this pack');
    await expect(machine.command('none')).rejects.toThrow('ctx.pack() takes a pack or its name');
    await expect(machine.command('byNam')).rejects.toThrow('did you mean "byName"?');
  });

  test('an undefined target, and an approval function that returns a decision', async () => {
    const machine = machineOf({
      transitions: { go: () => to(undefined as never) },
      tools: {
        pay: tool({
          description: 'Pays.',
          inputSchema: z.object({}),
          approval: (() => suspend('a signature')) as never,
          execute: () => 'Paid.',
        }),
      },
    });
    const { steps } = await run(machine, [[{ toolName: 'pay' }, { toolName: 'transition_go' }], 'Hm.'], {
      input: 'Go.',
    });
    const [[, paid, why] = [], [, went, where] = []] = outcomes(steps);
    expect([paid, went]).toEqual(['error', 'error']);
    expect(why).toContain('suspend() belongs in the handler of a transition');
    expect(where).toContain('must come from node() or be the name of one, but nothing was given');
  });

  const options: Partial<Record<keyof RunMachineOptions, unknown>> = {
    batch: 'all',
    middleware: {},
    policies: {},
    onEvent: 5,
    clock: 5,
    newId: 5,
    logger: 5,
    modelRetries: -1,
    modelSettings: 5,
  };
  for (const [name, value] of Object.entries(options)) {
    test(`a run is refused before it begins if ${name} cannot work`, () => {
      const given = { model: scriptedModel([]), input: 'Go.', [name]: value };
      expect(() => runMachine(machineOf({}), given as never)).toThrow(`Option "${name}" must be`);
    });
  }
});
