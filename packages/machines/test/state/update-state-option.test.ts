import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CharterError, charter, createMachine, type NodeDefinition, node, type StateContext } from '../../src/index.ts';
import { outcomes, run, toolNames } from '../kit.ts';

const state = z.object({ note: z.string().default(''), paid: z.number().default(0), owner: z.string().default('Ada') });
type State = z.infer<typeof state>;

async function write(updateState: NodeDefinition<State>['updateState'] | 'default', input: object) {
  const desk = node({
    instructions: 'desk',
    state,
    ...(updateState === 'default' || updateState === undefined ? {} : { updateState }),
    commands: { pay: (_input, ctx: StateContext<State>) => ctx.updateState({ paid: 42 }) },
  });
  const machine = createMachine(charter({ nodes: { desk } }), { root: 'desk' });
  const { steps, requests } = await run(machine, [{ toolName: 'updateState', input }, 'Ok.'], { input: 'Go.' });
  const offered = requests[0]?.tools?.find(({ name }) => name === 'updateState');
  const fields = Object.keys((offered as { inputSchema?: { properties?: object } })?.inputSchema?.properties ?? {});
  const [[, status = '', text = ''] = []] = outcomes(steps);
  return { machine, status, text, fields, tools: toolNames(requests[0]) };
}

function refused(definition: object): CharterError {
  try {
    charter({ nodes: { desk: node({ instructions: 'desk', ...definition } as never) } });
  } catch (error) {
    if (error instanceof CharterError) return error;
    throw error;
  }
  throw new Error('The charter was not refused.');
}

describe('the fields that a model may write', () => {
  for (const option of ['default', true] as const) {
    test(`[M31] ${option === true ? 'updateState: true lets' : 'without the option'} the model write every field`, async () => {
      const { machine, fields } = await write(option, { paid: 7, note: 'x' });
      expect(fields).toEqual(['note', 'paid', 'owner']);
      expect(machine.tree.root.state).toEqual({ note: 'x', paid: 7, owner: 'Ada' });
    });
  }

  for (const option of [false, []] as const) {
    test(`[M31] updateState: ${JSON.stringify(option)} gives the model no such tool`, async () => {
      const { machine, status, tools } = await write(option, { paid: 7 });
      expect(tools).toEqual([]);
      expect(status).toBe('error');
      expect(machine.tree.root.state).toMatchObject({ paid: 0 });
    });
  }

  test('[M31] a list lets the model write those fields', async () => {
    const { machine, fields, status } = await write(['note', 'owner'], { note: 'call back' });
    expect(fields).toEqual(['note', 'owner']);
    expect(status).toBe('ok');
    expect(machine.tree.root.state).toEqual({ note: 'call back', paid: 0, owner: 'Ada' });
  });

  test('[M31] a call without fields changes nothing, and the model reads so', async () => {
    const { machine, status, text } = await write(true, {});
    expect([status, text]).toEqual([
      'ok',
      'The state is unchanged: you gave no field. Give the fields to set, by name.',
    ]);
    expect(machine.tree.root.state).toEqual({ note: '', paid: 0, owner: 'Ada' });
  });

  for (const [form, input] of [
    ['alone', { paid: 42 }],
    ['beside one it may', { note: 'x', paid: 42 }],
    ['inside a patch', { patch: { paid: 42 } }],
  ] as const) {
    test(`[M31] a field that is not in the list is refused, ${form}, with nothing changed`, async () => {
      const { machine, status, text } = await write(['note'], input);
      expect(status).toBe('error');
      expect(text).toContain('note');
      expect(machine.tree.root.state).toEqual({ note: '', paid: 0, owner: 'Ada' });
    });
  }

  test('[M31] the option limits only the model: tools and commands of the node write every field', async () => {
    const { machine } = await write(false, {});
    await machine.command('pay');
    expect(machine.tree.root.state).toMatchObject({ paid: 42 });
  });

  test('[M31] a list also applies if the schema is a union or does not list its fields', async () => {
    const union = z.union([z.object({ a: z.number(), b: z.number() }), z.object({ a: z.number(), c: z.number() })]);
    for (const schema of [union, silent()]) {
      const one = node({
        instructions: 'one',
        state: schema as z.ZodType<{ a: number; b: number }>,
        initialState: { a: 1, b: 1 },
        updateState: ['a'],
      });
      const machine = createMachine(charter({ nodes: { one } }), { root: 'one' });
      const script = [
        { toolName: 'updateState', input: { b: 2 } },
        { toolName: 'updateState', input: { a: 2 } },
        'Ok.',
      ];
      const { steps } = await run(machine, script, { input: 'Go.' });
      expect(outcomes(steps).map(([, status]) => status)).toEqual(['error', 'ok']);
      expect(machine.tree.root.state).toEqual({ a: 2, b: 1 });
    }
  });
});

/** A schema of a library that has no conversion to JSON Schema. */
function silent(): unknown {
  const { validate } = z.object({ a: z.number(), b: z.number() })['~standard'];
  return { '~standard': { version: 1, vendor: 'silent', validate } };
}

describe('a list that cannot work', () => {
  test('[M31] an unknown field fails the charter, with the nearest name', () => {
    const error = refused({ state, updateState: ['note', 'ownr'] });
    expect(error.path).toBe('nodes.desk.updateState[1]');
    expect(error.message).toContain('"ownr"');
    expect(error.message).toContain('did you mean "owner"?');
  });

  test('[M31] an unknown field also fails with JSON Schema, and with a schema that does not list its fields', () => {
    const document = { type: 'object', properties: { owner: { type: 'string' } } };
    expect(refused({ state: document, updateState: ['ownr'] }).message).toContain('did you mean "owner"?');
    const error = refused({ state: silent(), initialState: { a: 1, b: 2 }, updateState: ['aa'] });
    expect(error.message).toContain('did you mean "a"?');
  });

  test('[M31] any field fits a schema that allows any', () => {
    for (const open of [z.looseObject({ a: z.number().default(0) }), { type: 'object', additionalProperties: true }]) {
      const one = node({ instructions: 'one', state: open as z.ZodType<Record<string, unknown>>, updateState: ['b'] });
      expect(charter({ nodes: { one } }).nodeNames).toEqual(['one']);
    }
  });

  const cases: Record<string, [definition: object, path: string, says: string]> = {
    'true without state': [{ updateState: true }, 'nodes.desk.updateState', 'no state'],
    'fields without state': [{ updateState: ['note'] }, 'nodes.desk.updateState', 'no state'],
    'a text': [{ state, updateState: 'note' }, 'nodes.desk.updateState', "['note']"],
    'what is no name': [{ state, updateState: [3] }, 'nodes.desk.updateState[0]', 'name of a field'],
    'an object': [{ state, updateState: { note: true } }, 'nodes.desk.updateState', 'true, false or a list'],
  };
  for (const [what, [definition, path, says]] of Object.entries(cases)) {
    test(`[M31] ${what} fails the charter`, () => {
      const error = refused(definition);
      expect(error.path).toBe(path);
      expect(error.message).toContain(says);
    });
  }

  test('[M31] false without state is allowed, and an unknown field is a type error', () => {
    expect(charter({ nodes: { one: node({ instructions: 'one', updateState: false }) } }).nodeNames).toEqual(['one']);
    // @ts-expect-error: there is no such field
    expect(() => charter({ nodes: { one: node({ instructions: 'one', state, updateState: ['ownr'] }) } })).toThrow();
  });
});
