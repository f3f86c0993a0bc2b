import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { advertise } from '../../src/doors/internal.ts';
import {
  createSession,
  dispatchCall,
  fail,
  jsonSchema,
  mergeToolSets,
  ok,
  slice,
  type ToolDefinition,
  ToolDefinitionError,
  type ToolSet,
  ToolSetError,
  tool,
} from '../../src/index.ts';

const anything = z.object({});
const define = (definition: object): unknown =>
  tool({ description: 'Says hello.', inputSchema: anything, ...definition } as never);
const echo = tool({
  description: 'Says it back.',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }) => text,
});

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

test.each(['', 'a'.repeat(65), 'a.b', 'a b', 'é', ' a', 'a ', '123', '__proto__'])(
  '[T1] the name %j is refused, naming the tool and the field',
  async (name) => {
    const error = errorOf(() => mergeToolSets({ [name]: echo }));
    expect(error).toBeInstanceOf(ToolDefinitionError);
    expect(error).toMatchObject({ tool: name, field: 'name' });
    expect((error as Error).message).toContain(`"${name}"`);
    expect(errorOf(() => define({ name }))).toMatchObject({ tool: name, field: 'name' });
    await expect(
      dispatchCall({ tools: { [name]: echo }, call: { toolName: name, input: { text: 'x' } } }),
    ).rejects.toThrow(ToolDefinitionError);
  },
);

test.each(['a', 'A', 'fetchWeather', 'move_card', 'a-b', '1a', 'a'.repeat(64)])(
  '[T1] the name %j is accepted',
  async (name) => {
    const settlement = await dispatchCall({ tools: { [name]: echo }, call: { toolName: name, input: { text: 'x' } } });
    expect(settlement.outcome).toMatchObject({ status: 'ok', text: 'x' });
  },
);

test('[T1] an array where a tool set is expected is refused', async () => {
  const array = [echo] as unknown as ToolSet;
  expect(() => mergeToolSets(array)).toThrow(ToolSetError);
  expect(() => mergeToolSets(array)).toThrow('not an array');
  await expect(dispatchCall({ tools: array, call: { toolName: '0' } })).rejects.toThrow(ToolSetError);
});

test('[T2] a description is stored trimmed and is 1–1,024 characters', () => {
  expect(tool({ description: '  Hello. \n', inputSchema: anything }).description).toBe('Hello.');
  expect(define({ description: `  ${'x'.repeat(1_024)}  ` })).toMatchObject({ description: 'x'.repeat(1_024) });
  for (const description of ['', '   ', 'x'.repeat(1_025), undefined, 5]) {
    expect(errorOf(() => define({ description, name: 'greet' }))).toMatchObject({
      name: 'ToolDefinitionError',
      tool: 'greet',
      field: 'description',
    });
  }
});

test('[T2] a tool of another source may have a description of at most 4,096 characters', async () => {
  const session = createSession();
  const foreign = (length: number): ToolSet => ({
    far: { description: 'x'.repeat(length), inputSchema: z.object({}), execute: () => 1 },
  });
  expect(await advertise(foreign(4096), { session })).toMatchObject([{ description: 'x'.repeat(4096) }]);
  await expect(advertise(foreign(4097), { session })).rejects.toThrow(ToolDefinitionError);
});

test('[T3] an example that does not fit its schema fails the definition, naming its index and path', () => {
  const inputSchema = z.object({ item: z.object({ price: z.number() }) });
  const good = { description: 'good', input: { item: { price: 1 } } };
  const bad = { description: 'bad', input: { item: { price: 'x' } } };
  const error = errorOf(() => define({ name: 'buy', inputSchema, examples: [good, bad] }));
  expect(error).toMatchObject({ tool: 'buy', field: 'examples[1].input' });
  expect((error as Error).message).toContain('item.price');
  const extra = { description: 'extra', input: { item: { price: 1, colour: 'red' } } };
  expect((errorOf(() => define({ name: 'buy', inputSchema, examples: [extra] })) as Error).message).toContain(
    'item.colour',
  );
});

test("[T3] an example's output is checked against the output schema", () => {
  const examples = [{ description: 'bad', input: {}, output: { ok: 'yes' } }];
  const error = errorOf(() => define({ name: 'buy', outputSchema: z.object({ ok: z.boolean() }), examples }));
  expect(error).toMatchObject({ field: 'examples[0].output' });
  expect((error as Error).message).toContain('ok');
});

test('[T4] a schema without a source of JSON Schema fails the definition with a hint', () => {
  const error = errorOf(() => define({ name: 'buy', inputSchema: v.object({ a: v.string() }) }));
  expect(error).toMatchObject({ tool: 'buy', field: 'inputSchema' });
  expect((error as Error).message).toContain('toStandardJsonSchema');
  expect(errorOf(() => define({ inputSchema: undefined }))).toBeInstanceOf(ToolDefinitionError);
});

test.each([
  ['zod', z.object({ a: z.string().describe('the a'), deep: z.object({ b: z.number() }) })],
  ['arktype', type({ a: type('string').describe('the a'), deep: { b: 'number' } })],
  [
    'valibot',
    toStandardJsonSchema(
      v.object({ a: v.pipe(v.string(), v.description('the a')), deep: v.object({ b: v.number() }) }),
    ),
  ],
  [
    'JSON Schema',
    {
      type: 'object',
      properties: {
        a: { type: 'string', description: 'the a' },
        deep: { type: 'object', properties: { b: { type: 'number' } } },
      },
    },
  ],
])('[T5] the advertised schema is the enforced one: %s', async (_vendor, inputSchema) => {
  const tools = { probe: tool({ description: 'Probes.', inputSchema: inputSchema as z.ZodType, execute: () => 'in' }) };
  const [advertised] = await advertise(tools, { session: createSession() });
  expect(advertised).toMatchObject({
    type: 'function',
    inputSchema: {
      additionalProperties: false,
      properties: { a: { description: expect.stringContaining('the a') }, deep: { additionalProperties: false } },
    },
  });
  const call = (input: object): ReturnType<typeof dispatchCall> =>
    dispatchCall({ tools, call: { toolName: 'probe', input } });
  expect((await call({ a: 'x', deep: { b: 1 } })).outcome.status).toBe('ok');
  expect((await call({ a: 'x', deep: { b: 1, c: 1 } })).outcome).toMatchObject({
    code: 'invalid_input',
    text: expect.stringContaining('deep.c'),
  });
});

test('[T5] a level that the schema itself opens stays open', async () => {
  const inputSchema = z.object({ any: z.record(z.string(), z.number()), loose: z.looseObject({ a: z.string() }) });
  const tools = { probe: tool({ description: 'Probes.', inputSchema, execute: (input) => input }) };
  const input = { any: { x: 1 }, loose: { a: '', b: 2 } };
  expect((await dispatchCall({ tools, call: { toolName: 'probe', input } })).outcome).toMatchObject({
    status: 'ok',
    value: input,
  });
});

test('[T6] a tool without execute is offered only if something else answers it', async () => {
  const tools = { ask: tool({ description: 'Asks.', inputSchema: anything }), echo };
  const session = createSession();
  const names = async (pendingAnswered: boolean): Promise<string[]> =>
    (await advertise(tools, { session, pendingAnswered })).map((one) => one.name);
  expect(await names(false)).toEqual(['echo']);
  expect(await names(true)).toEqual(['ask', 'echo']);
  const call = { toolName: 'ask', callId: 'c1' };
  expect((await dispatchCall({ tools, call })).outcome).toMatchObject({ code: 'unknown_tool' });
  expect((await dispatchCall({ tools, call, pendingAnswered: true })).outcome).toMatchObject({
    status: 'pending',
    kind: 'result',
  });
});

test('[T9] a tool is a plain object: a spread copy with another execute is a tool', async () => {
  const definition: ToolDefinition<{ text: string }, string> = {
    description: 'd',
    inputSchema: z.object({ text: z.string() }),
    execute: () => 'one',
  };
  const tools = { copy: { ...tool(definition), execute: () => 'two' } };
  expect((await dispatchCall({ tools, call: { toolName: 'copy', input: { text: '' } } })).outcome).toMatchObject({
    text: 'two',
  });
  const broken = { copy: { ...echo, timeoutMs: -1 } };
  await expect(dispatchCall({ tools: broken, call: { toolName: 'copy' } })).rejects.toMatchObject({
    tool: 'copy',
    field: 'timeoutMs',
  });
});

test("[T9] a tool's name, if it has one, must equal its key", async () => {
  const named = tool({ name: 'one', description: 'd', inputSchema: anything, execute: () => 1 });
  expect((await dispatchCall({ tools: { one: named }, call: { toolName: 'one' } })).outcome.status).toBe('ok');
  await expect(dispatchCall({ tools: { two: named }, call: { toolName: 'two' } })).rejects.toMatchObject({
    tool: 'two',
    field: 'name',
  });
});

test('[T10] a description that is a function of the session is called each time', async () => {
  const count = slice('count', { initial: 0, on: { counted: (n: number) => n + 1 } });
  const session = createSession({ slices: [count] });
  const tools = {
    peek: tool({ description: (now) => ` Seen ${now.read(count)} `, inputSchema: anything, execute: () => 1 }),
  };
  const read = async (): Promise<unknown> => (await advertise(tools, { session }))[0];
  expect(await read()).toMatchObject({ description: 'Seen 0' });
  session.dispatch({ type: 'counted' });
  expect(await read()).toMatchObject({ description: 'Seen 1' });
});

test.each([
  ['execute', 'not a function'],
  ['terminal', 'yes'],
  ['effects', 'some'],
  ['timeoutMs', 0],
  ['timeoutMs', Number.NaN],
  ['approval', 'maybe'],
  ['keepLatest', ''],
  ['examples', {}],
  ['render', 'json'],
  ['policies', [{}]],
  ['id', ''],
])('a definition whose %s is %j is refused, naming the field', (field, value) => {
  expect(errorOf(() => define({ name: 'greet', [field]: value }))).toMatchObject({ tool: 'greet', field });
});

test("execute's input is inferred from Zod, Valibot, ArkType and JSON Schema", () => {
  tool({
    description: 'd',
    inputSchema: z.object({ n: z.string().transform(Number), d: z.number().default(1) }),
    execute: (input) => expectTypeOf(input).toEqualTypeOf<{ n: number; d: number }>(),
    examples: [{ description: 'as written', input: { n: '5' } }],
  });
  tool({
    description: 'd',
    inputSchema: toStandardJsonSchema(v.object({ a: v.optional(v.string()) })),
    execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a?: string | undefined }>(),
  });
  tool({
    description: 'd',
    inputSchema: type({ a: 'number' }),
    execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a: number }>(),
  });
  tool({
    description: 'd',
    inputSchema: { type: 'object' },
    execute: (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>(),
  });
  tool({
    description: 'd',
    inputSchema: jsonSchema<{ q: string }>({ type: 'object', properties: { q: { type: 'string' } } }),
    execute: (input) => expectTypeOf(input).toEqualTypeOf<{ q: string }>(),
  });
});

test("a tool's output is inferred from what execute returns, in every form", () => {
  const outputOf = <O>(_: ToolDefinition<Record<string, unknown>, O>): O => undefined as O;
  const inputSchema = { type: 'object' };
  expectTypeOf(outputOf({ description: 'd', inputSchema, execute: () => 5 })).toEqualTypeOf<number>();
  expectTypeOf(outputOf({ description: 'd', inputSchema, execute: async () => 'x' })).toEqualTypeOf<string>();
  expectTypeOf(outputOf({ description: 'd', inputSchema, execute: () => ok({ a: 1 }) })).toEqualTypeOf<{ a: number }>();
  expectTypeOf(
    outputOf({ description: 'd', inputSchema, execute: async () => (Math.abs(1) ? ok(1) : fail('no')) }),
  ).toEqualTypeOf<number>();
  expectTypeOf(
    outputOf({
      description: 'd',
      inputSchema,
      async *execute() {
        yield 'a';
      },
    }),
  ).toEqualTypeOf<string>();
});

// Never called: the test is that these lines do not compile, which `tsc` checks.
export function misuseDoesNotCompile(): void {
  const inputSchema = z.object({ a: z.string() });
  // @ts-expect-error a description is required
  tool({ inputSchema });
  // @ts-expect-error an input schema is required
  tool({ description: 'd' });
  // @ts-expect-error the input is { a: string }
  tool({ description: 'd', inputSchema, execute: ({ b }) => b });
  // @ts-expect-error there is no such kind of effects
  tool({ description: 'd', inputSchema, effects: 'some' });
  // @ts-expect-error an example's input must fit the schema
  tool({ description: 'd', inputSchema, examples: [{ description: 'e', input: { a: 1 } }] });
  // @ts-expect-error the output must fit the output schema
  tool({ description: 'd', inputSchema, outputSchema: z.object({ n: z.number() }), execute: () => ({ n: 'x' }) });
  // @ts-expect-error a terminal tool needs execute
  tool({ description: 'd', inputSchema, terminal: true });
  // A copy has execute if the tool has it. A tool that may be terminal is checked when it is used.
  tool({ ...tool({ description: 'd', inputSchema, execute: ({ a }) => a }), terminal: true });
  tool({ description: 'd', inputSchema, terminal: Boolean(inputSchema) });
  // @ts-expect-error a tool set is not an array
  mergeToolSets([echo]);
  // @ts-expect-error a tool set holds tools
  mergeToolSets({ echo: 5 });
  // @ts-expect-error an event has a type
  createSession().dispatch({ kind: 'x' });
}
