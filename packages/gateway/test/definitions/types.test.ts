import { type Policy, readBeforeWrite, requires, section, slice, tool } from '@lastcall/core';
import { plugin, prompt } from '@lastcall/core/prompt';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { type AgentDefinition, defineAgent, defineConfig } from '../../src/index.ts';
import { add_item, cart, pay } from './shop.ts';

// Each definition has one mistake, which is also a type error: `tsc` fails if a line below a @ts-expect-error compiles.
// The functions run as well, because the types do not replace the checks.
const place = slice('place', { initial: { at: 'shop' as 'shop' | 'street' }, on: {} });
const world = plugin({ name: 'world', tools: () => ({}), getAgentConfig: () => ({ instructions: '', tools: {} }) });
const tools = { add_item, pay };

interface Seat {
  readonly player: 'ada' | 'bo';
}
const town = plugin<Seat, 'shop' | 'street'>({
  name: 'town',
  tools: () => ({}),
  getAgentConfig: ({ player }, mode) => ({ instructions: `${player} is in the ${mode}.`, tools: {} }),
});

it.each<[wrong: string, define: () => unknown, problem: string]>([
  [
    'an unknown tool in policies',
    // @ts-expect-error A policy names a tool that this definition does not have: "add_itm"
    () => defineAgent({ tools, policies: [readBeforeWrite(), requires({ pay: ['add_itm'] })] }),
    'policies[1] names the tool "add_itm", which this definition does not have. Did you mean "add_item"?',
  ],
  [
    'a slice twice',
    // @ts-expect-error A slice is listed twice: "cart"
    () => defineAgent({ tools, slices: [cart, place, cart] }),
    'slices[2] is "cart" a second time.',
  ],
  [
    'two slices with one name',
    // @ts-expect-error A slice is listed twice: "cart"
    () => defineAgent({ slices: [cart, slice('cart', { initial: 0, on: {} })] }),
    'slices[1] is "cart" a second time.',
  ],
  [
    'a terminal tool without execute',
    // @ts-expect-error Property 'execute' is missing
    () => defineAgent({ tools: { end: tool({ description: 'Ends.', inputSchema: z.object({}), terminal: true }) } }),
    'tools.end has no execute function',
  ],
  [
    'plugins without a mode',
    // @ts-expect-error Property 'mode' is missing
    () => defineAgent({ plugins: [world] }),
    'mode is missing',
  ],
  [
    'a field that does not exist',
    // @ts-expect-error A definition has no field "tols".
    () => defineAgent({ instructions: 'Sell.', tols: tools }),
    'tols',
  ],
])('%s is a compile error, and refused when the program runs', (_, define, problem) => {
  expect(define).toThrow(problem);
});

it('a mode that is not in modes, or that a plugin does not know, is a compile error', () => {
  const modes = ['shop', 'street'] as const;
  // @ts-expect-error Type '"park"' is not assignable to type '"shop" | "street"'
  defineAgent({ plugins: [world], modes, mode: () => 'park' });
  // @ts-expect-error Type 'string' is not assignable to type '"shop" | "street"'
  defineAgent({ plugins: [world], modes: ['shop', 'street'], mode: ({ session }) => String(session.read(place).at) });
  // @ts-expect-error Type '"park"' is not assignable to type '"shop" | "street"'
  defineAgent({ plugins: [town], ctx: { player: 'ada' }, modes: ['shop', 'street', 'park'], mode: () => 'shop' });
});

it('a plugin gets the ctx of the definition, and a missing or wrong one is a compile error', () => {
  const given: unknown[] = [];
  const asked = plugin({ ...town, tools: (ctx: Seat) => (given.push(ctx), {}) });
  const modes = ['shop', 'street'] as const;
  const ctx = { player: 'bo' } as const;
  defineAgent({ plugins: [asked], ctx, modes, mode: () => 'shop' });
  expect(given).toEqual(given.map(() => ctx));
  expect(given).not.toEqual([]);
  // @ts-expect-error Property 'player' is missing
  defineAgent({ plugins: [town], modes, mode: () => 'shop' });
  // @ts-expect-error Type '"cy"' is not assignable to type '"ada" | "bo"'
  defineAgent({ plugins: [town], ctx: { player: 'cy' }, modes, mode: () => 'shop' });
  expect(() => defineAgent({ ctx })).toThrow('ctx has no effect without plugins');
});

it('values that the types cannot check compile', () => {
  const orders = section({ key: 'orders', title: 'Orders', template: 'Take orders.', tools: { pay } });
  const instructions = prompt({ ns: 'shop', key: 'clerk', sections: [orders] });
  const names: readonly string[] = ['add_item'];
  const own: Policy = { name: 'own', beforeCall: () => true };
  const wide = slice<number>('wide', { initial: 0, on: {} });
  const other = slice<number>('other', { initial: 0, on: {} });
  defineAgent({ instructions, tools: { add_item }, policies: [requires({ pay: ['add_item'] })] });
  defineAgent({ tools, policies: [own, requires({ pay: names }), requires({ pay: ['add_item'] })] });
  defineAgent({ tools, rewind: true, policies: [requires({ rewind: ['pay'] })] });
  defineAgent({ slices: [wide, cart, other] });
  defineAgent({ plugins: [world], mode: ({ events, now }) => (events.length > now ? 'busy' : 'idle') });
  const parts: AgentDefinition = { tools, slices: [cart] };
  expect(defineAgent(parts)).toEqual(parts);
  expect(defineAgent({})).toEqual({});
});

it('a definition keeps the types of its parts, and can be listed in a configuration', () => {
  const clerk = defineAgent({ instructions: 'Sell.', tools, slices: [cart] });
  expectTypeOf(clerk.tools).toEqualTypeOf<typeof tools>();
  expectTypeOf(clerk.slices).toEqualTypeOf<readonly [typeof cart]>();
  expect(defineConfig({ definitions: { clerk } }).definitions).toEqual({ clerk });
});
