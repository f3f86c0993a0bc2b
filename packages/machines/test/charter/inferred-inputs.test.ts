import { tool as coreTool, jsonSchema } from '@lastcall/core';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  cede,
  charter,
  createMachine,
  node,
  pack,
  type StateContext,
  suspend,
  type TransitionDefinition,
  to,
} from '../../src/index.ts';
import { outcomes, run } from '../kit.ts';

// `tsc -b` checks the types; the tests check at run time that the charters are built and that the inputs have these types.

interface Wanted {
  id: string;
  count: number;
}
const input = { id: 'A-17', count: 2 };
const seen: unknown[] = [];
const keep = (given: unknown) => {
  seen.push(given);
  return cede();
};

const schemas = {
  zod: z.object({ id: z.string(), count: z.number() }),
  valibot: toStandardJsonSchema(v.object({ id: v.string(), count: v.number() })),
  arktype: type({ id: 'string', count: 'number' }),
  typed: jsonSchema<Wanted>({
    type: 'object',
    properties: { id: { type: 'string' }, count: { type: 'number' } },
    required: ['id', 'count'],
  }),
};
const document = {
  type: 'object',
  properties: { id: { type: 'string' }, count: { type: 'integer' } },
  required: ['id', 'count'],
} as const;

describe('[M30] the input is inferred from its schema', () => {
  test('[M30] of transitions, written inline, with the schemas of any library', async () => {
    const start = node({
      instructions: 'start',
      transitions: {
        zod: {
          inputSchema: schemas.zod,
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return keep(given);
          },
        },
        valibot: {
          // The schema may be the last property.
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return keep(given);
          },
          inputSchema: schemas.valibot,
        },
        arktype: {
          inputSchema: schemas.arktype,
          handler: async (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return keep(given);
          },
        },
        typed: {
          inputSchema: schemas.typed,
          handler(given, ctx) {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            expectTypeOf(ctx).toEqualTypeOf<StateContext<Record<string, never>>>();
            return keep(given);
          },
        },
        document: {
          inputSchema: document,
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return keep(given);
          },
        },
        inline: {
          inputSchema: {
            type: 'object',
            properties: { id: { type: 'string' }, count: { type: 'number' } },
            required: ['id', 'count'],
          },
          approval: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return false;
          },
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return keep(given);
          },
        },
      },
    });
    const machine = createMachine(charter({ nodes: { start } }), { root: 'start' });
    const names = Object.keys(start.transitions);
    seen.length = 0;
    await run(machine, [...names.map((name) => ({ toolName: `transition_${name}`, input })), 'Done.'], {
      input: 'Go.',
    });
    expect(seen).toEqual(names.map(() => input));
  });

  test('[M30] of transitions made by the maker, and of those that all nodes share', () => {
    const start = node({
      instructions: 'start',
      state: z.object({ n: z.number().default(0) }),
      transitions: (transition) => ({
        zod: transition({
          inputSchema: schemas.zod,
          handler: (given, ctx) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            expectTypeOf(ctx.state.n).toEqualTypeOf<number>();
            return cede();
          },
        }),
        last: transition({
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return suspend(given.id);
          },
          inputSchema: schemas.arktype,
        }),
        document: transition({
          inputSchema: document,
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return cede();
          },
        }),
        none: transition({
          handler: (given) => {
            expectTypeOf(given).toEqualTypeOf<Record<string, unknown>>();
            return cede();
          },
        }),
      }),
    });
    const made = charter({
      nodes: { start },
      transitions: {
        shared: {
          inputSchema: schemas.zod,
          handler: (given, ctx) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            expectTypeOf(ctx).toEqualTypeOf<StateContext>();
            return to('start');
          },
        },
      },
    });
    expect(made.nodeNames).toEqual(['start']);
  });

  test('[M30] of commands, inline and by the maker', async () => {
    const inline = node({
      instructions: 'inline',
      commands: {
        zod: { inputSchema: schemas.zod, execute: (given) => expectTypeOf(given).toEqualTypeOf<Wanted>() && given },
        last: {
          execute: (given) => expectTypeOf(given).toEqualTypeOf<Wanted>() && given,
          inputSchema: schemas.valibot,
        },
        document: { inputSchema: document, execute: (given) => expectTypeOf(given).toEqualTypeOf<Wanted>() && given },
        none: { execute: (given) => expectTypeOf(given).toEqualTypeOf<Record<string, unknown>>() && given },
      },
    });
    const made = node({
      instructions: 'made',
      commands: (command) => ({
        zod: command({
          inputSchema: schemas.zod,
          execute: (given) => expectTypeOf(given).toEqualTypeOf<Wanted>() && given,
        }),
        document: command({
          inputSchema: document,
          execute: (given) => expectTypeOf(given).toEqualTypeOf<Wanted>() && given,
        }),
      }),
    });
    const one = charter({ nodes: { inline, made } });
    for (const root of ['inline', 'made'] as const) {
      const machine = createMachine(one, { root });
      expect(await machine.command('zod', input)).toEqual(input);
      expect(await machine.command('document', input)).toEqual(input);
      await expect(machine.command('document', { id: 3 })).rejects.toThrow('id');
    }
  });

  test('[M30] of tools, of nodes and of packs', async () => {
    const shelf = pack({
      name: 'shelf',
      state: { type: 'object', properties: { n: { type: 'number', default: 1 } } },
      initialState: { n: 1 },
      tools: (tool) => ({
        peek: tool({
          description: 'Peeks.',
          inputSchema: document,
          execute: (given, ctx) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            expectTypeOf(ctx.state).toEqualTypeOf<Readonly<{ n: number }>>();
            return `${given.id}: ${ctx.state.n}`;
          },
        }),
      }),
    });
    const start = node({
      instructions: 'start',
      packs: [shelf],
      tools: (tool) => ({
        zod: tool({
          description: 'Zod.',
          inputSchema: schemas.zod,
          examples: [{ description: 'one', input }],
          execute: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return given.id;
          },
        }),
        last: tool({
          description: 'Last.',
          execute: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return given.id;
          },
          inputSchema: schemas.arktype,
        }),
        core: coreTool({
          description: 'Core.',
          inputSchema: schemas.zod,
          execute: (given) => {
            expectTypeOf(given).toEqualTypeOf<Wanted>();
            return given.id;
          },
        }),
      }),
    });
    const machine = createMachine(charter({ nodes: { start }, packs: [shelf] }), { root: 'start' });
    const calls = ['peek', 'zod', 'last', 'core'].map((toolName) => ({ toolName, input }));
    const { steps } = await run(machine, [calls, 'Done.'], { input: 'Go.' });
    expect(outcomes(steps).map(([, status, text]) => [status, text])).toEqual([
      ['ok', 'A-17: 1'],
      ['ok', 'A-17'],
      ['ok', 'A-17'],
      ['ok', 'A-17'],
    ]);
  });

  test('[M30] of a JSON Schema with choices, lists, objects, null and defaults', () => {
    node({
      instructions: 'start',
      transitions: {
        go: {
          inputSchema: {
            type: 'object',
            properties: {
              how: { enum: ['by post', 'by hand'] },
              sure: { const: true },
              items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
              note: { type: ['string', 'null'] },
              size: { anyOf: [{ type: 'number' }, { type: 'string' }] },
              times: { type: 'integer', default: 1 },
              other: { $ref: '#/$defs/other' },
            },
            required: ['how', 'sure'],
          },
          handler: (given) => {
            expectTypeOf(given.how).toEqualTypeOf<'by post' | 'by hand'>();
            expectTypeOf(given.sure).toEqualTypeOf<true>();
            expectTypeOf(given.items).toEqualTypeOf<{ id?: number }[] | undefined>();
            expectTypeOf(given.note).toEqualTypeOf<string | null | undefined>();
            expectTypeOf(given.size).toEqualTypeOf<number | string | undefined>();
            expectTypeOf(given.times).toEqualTypeOf<number>();
            expectTypeOf(given.other).toBeAny();
            return cede();
          },
        },
      },
    });
  });

  test('[M30] of a definition that a function of the host returns', () => {
    const asks = (target: string): TransitionDefinition<{ n: number }, Wanted> => ({
      inputSchema: schemas.zod,
      handler: ({ id }, ctx) => to(target, { id, n: ctx.state.n }),
    });
    const start = node({
      instructions: 'start',
      state: z.object({ n: z.number() }),
      transitions: { go: asks('start') },
    });
    expect(charter({ nodes: { start } }).nodeNames).toEqual(['start']);
  });

  test('[M30] if the compiler cannot read the schema, an annotation may give the type', () => {
    const unread: Record<string, unknown> = { ...document };
    const start = node({
      instructions: 'start',
      transitions: {
        go: { inputSchema: unread, handler: ({ id }: { id: string }) => suspend(id) },
        alone: ({ id }: { id: string }) => suspend(id),
      },
      commands: { alone: ({ id }: { id: string }) => id, none: { execute: ({ id }: { id: string }) => id } },
    });
    expect(charter({ nodes: { start } }).nodeNames).toEqual(['start']);
  });

  test('[M30] the state of a node and of a pack is inferred from JSON Schema too', async () => {
    const start = node({
      instructions: ({ n }) => `At ${n.toFixed()}.`,
      state: { type: 'object', properties: { n: { type: 'integer', default: 3 }, tag: { type: 'string' } } },
      commands: {
        add: (_given, ctx) => {
          expectTypeOf(ctx.state).toEqualTypeOf<Readonly<{ n: number; tag?: string }>>();
          ctx.updateState({ n: ctx.state.n + 1 });
        },
      },
    });
    const machine = createMachine(charter({ nodes: { start } }), { root: 'start', state: { tag: 'x' } });
    await machine.command('add');
    expect(machine.tree.root.state).toEqual({ n: 4, tag: 'x' });
  });
});

// Never called: the test is that these lines do not compile, which `tsc -b` checks.
export function contradictionsDoNotCompile(): void {
  node({
    instructions: 'start',
    state: z.object({ n: z.number() }),
    transitions: {
      // @ts-expect-error id is a text
      annotated: { inputSchema: schemas.zod, handler: ({ id }: { id: number }) => suspend(id) },
      // @ts-expect-error id is a text, wherever the schema stands
      last: { handler: ({ id }: { id: number }) => suspend(id), inputSchema: schemas.arktype },
      // @ts-expect-error id is a text
      document: { inputSchema: document, handler: ({ id }: { id: number }) => suspend(id) },
      // @ts-expect-error there is no such field
      misspelt: { inputSchema: schemas.zod, handler: ({ idd }) => suspend(idd) },
      // @ts-expect-error without a schema there are no arguments
      none: { handler: ({ id }: { id: string }) => suspend(id) },
      // @ts-expect-error the approval is asked with the same input
      approval: { inputSchema: schemas.zod, approval: ({ id }: { id: number }) => id > 1, handler: () => cede() },
      // @ts-expect-error n is a number
      state: { handler: (_given, ctx: StateContext<{ n: string }>) => suspend(ctx.state.n) },
      // @ts-expect-error that is no schema
      schema: { inputSchema: 3, handler: () => cede() },
      // @ts-expect-error that is no decision
      decision: { handler: () => 'start' },
      // @ts-expect-error a transition has no such option
      option: { descripton: 'x', handler: () => cede() },
    },
    commands: {
      // @ts-expect-error id is a text
      annotated: { inputSchema: schemas.zod, execute: ({ id }: { id: number }) => id },
      // @ts-expect-error id is a text
      document: { inputSchema: document, execute: ({ id }: { id: number }) => id },
    },
    tools: (tool) => ({
      // @ts-expect-error id is a text
      annotated: tool({ description: 'd', inputSchema: schemas.zod, execute: ({ id }: { id: number }) => id }),
      // @ts-expect-error id is a text
      document: tool({ description: 'd', inputSchema: document, execute: ({ id }: { id: number }) => id }),
      // @ts-expect-error id is a text
      core: coreTool({ description: 'd', inputSchema: schemas.zod, execute: ({ id }: { id: number }) => id }),
    }),
  });
  node({
    instructions: 'start',
    transitions: (transition) => ({
      // @ts-expect-error id is a text
      annotated: transition({ inputSchema: schemas.zod, handler: ({ id }: { id: number }) => suspend(id) }),
      // @ts-expect-error id is a text
      document: transition({ inputSchema: document, handler: ({ id }: { id: number }) => suspend(id) }),
    }),
    commands: (command) => ({
      // @ts-expect-error id is a text
      annotated: command({ inputSchema: schemas.valibot, execute: ({ id }: { id: number }) => id }),
    }),
  });
  charter({
    nodes: { start: node({ instructions: 'start' }) },
    // @ts-expect-error id is a text
    transitions: { go: { inputSchema: schemas.zod, handler: ({ id }: { id: number }) => suspend(id) } },
  });
  // @ts-expect-error a node has no such option
  node({ instructions: 'start', transitons: {} });
  // @ts-expect-error the state has no such field
  node({ instructions: 'start', state: z.object({ n: z.number() }), initialState: { n: 1, m: 2 } });
}
