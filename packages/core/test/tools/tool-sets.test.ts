import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  configureTools,
  dispatchCall,
  fail,
  filterToolSet,
  type Middleware,
  mergeToolSets,
  ToolSetError,
  tool,
  wrapToolSet,
} from '../../src/index.ts';

const make = (name: string) => tool({ description: `Does ${name}.`, inputSchema: z.object({}), execute: () => name });
const draw = make('draw');
const move = make('move');
const endTurn = make('end');

test('[T8] merging two sets with one name throws and names it', () => {
  expect(Object.keys(mergeToolSets({ draw }, { move }))).toEqual(['draw', 'move']);
  expect(() => mergeToolSets({ draw }, { move, draw })).toThrow(ToolSetError);
  expect(() => mergeToolSets({ draw }, { move, draw })).toThrow('"draw"');
});

test('[T8] filtering by an unknown name throws, and names it and the nearest one', () => {
  const set = { draw, move_card: move, end_turn: endTurn };
  expect(Object.keys(filterToolSet(set, 'include', ['end_turn', 'draw']))).toEqual(['draw', 'end_turn']);
  expect(Object.keys(filterToolSet(set, 'exclude', ['draw']))).toEqual(['move_card', 'end_turn']);
  expect(() => filterToolSet(set, 'include', ['moveCard'])).toThrow(/"moveCard".*"move_card"/);
  expect(() => filterToolSet(set, 'exclude', ['rewind'])).toThrow(ToolSetError);
  expect(() => filterToolSet(set, 'without' as never, [])).toThrow("'include' or 'exclude'");
});

test('[T9] a set wrapped for one run is a new object, and blocking in it is never seen in another', async () => {
  const set = { draw, move };
  const block: Middleware = { name: 'block', call: () => fail('blocked for this run') };
  const wrapped = wrapToolSet(set, block);
  const outcome = async (tools: typeof set | typeof wrapped): Promise<unknown> =>
    (await dispatchCall({ tools, call: { toolName: 'draw' } })).outcome;
  expect(await outcome(wrapped)).toMatchObject({ status: 'error', message: 'blocked for this run' });
  expect(await outcome(set)).toMatchObject({ status: 'ok', text: 'draw' });
  expect(await outcome(wrapToolSet(set, { name: 'pass' }))).toMatchObject({ status: 'ok' });
  expect(set).toEqual({ draw, move });
  expect(set.draw).toBe(draw);
});

test('wrapping twice runs the outer middleware first', async () => {
  const seen: string[] = [];
  const noting = (name: string): Middleware => ({
    name,
    async call(next) {
      seen.push(`${name} in`);
      const returned = await next();
      seen.push(`${name} out`);
      return returned;
    },
  });
  const tools = wrapToolSet(wrapToolSet({ draw }, noting('inner')), noting('outer'));
  await dispatchCall({ tools, middleware: [noting('run')], call: { toolName: 'draw' } });
  expect(seen).toEqual(['run in', 'outer in', 'inner in', 'inner out', 'outer out', 'run out']);
});

test('configureTools sets options by name and for all, on a copy, and refuses unknown ones', async () => {
  const set = { draw, move };
  const configured = configureTools(set, { '*': { timeoutMs: 5, terminal: false }, draw: { terminal: true } });
  expect((await dispatchCall({ tools: configured, call: { toolName: 'draw' } })).terminal).toBe(true);
  expect((await dispatchCall({ tools: configured, call: { toolName: 'move' } })).terminal).toBeUndefined();
  expect((await dispatchCall({ tools: set, call: { toolName: 'draw' } })).terminal).toBeUndefined();
  expect(() => configureTools(set, { drew: {} })).toThrow(/"drew".*"draw"/);
  expect(() => configureTools(set, { draw: { effects: 'some' as never } })).toThrow('effects');
  expect(() => configureTools(set, { draw: { termnal: true } as never })).toThrow('termnal');
});
