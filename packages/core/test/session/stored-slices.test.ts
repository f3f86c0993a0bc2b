import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  createSession,
  dispatchCall,
  replay,
  runTurn,
  Session,
  type SessionEvent,
  SliceVersionError,
  slice,
  tool,
} from '../../src/index.ts';
import { deepFreeze } from '../../src/session/deep-freeze.ts';
import { diffState, patchState } from '../../src/session/state-patch.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

interface Added extends SessionEvent {
  readonly type: 'Added';
  readonly item: string;
}

const on = { Added: (items: readonly string[], { item }: Added) => [...items, item] };
const cart = slice<readonly string[]>('cart', { initial: [], on });
const next = slice<readonly string[]>('cart', {
  version: 3,
  initial: [],
  on,
  migrate: (state, from) => (state as string[]).map((item) => `${item}/${from}`),
});
const stored = { version: 1 as const, slices: { cart: { version: 1, state: ['apple'] } } };
const keep = { unknownSlices: 'keep' } as const;

const add = (slices: readonly (typeof cart)[] = [cart]) =>
  tool({
    description: 'Adds.',
    effects: 'session',
    slices,
    inputSchema: z.object({ item: z.string() }),
    execute: ({ item }, { session }) => session.dispatch<Added>({ type: 'Added', item }),
  });

test('[A6] a stored slice that no code knows is kept unchanged, and is used by the first slice with its name', () => {
  const session = Session.fromJSON(stored, keep);
  expect(session.toJSON().slices.cart).toEqual(stored.slices.cart);
  expect(session.read(cart)).toEqual(['apple']);
  session.dispatch<Added>({ type: 'Added', item: 'pear' });
  expect(session.read(cart)).toEqual(['apple', 'pear']);
});

test('[A6] [T36] state of an older version is migrated, with or without the slice given', () => {
  expect(Session.fromJSON(stored, { slices: [next] }).read(next)).toEqual(['apple/1']);
  const kept = Session.fromJSON(stored, keep);
  expect(kept.read(next)).toEqual(['apple/1']);
  expect(kept.toJSON().slices.cart).toEqual({ version: 3, state: ['apple/1'] });
});

test('[A6] [T36] another version is refused with both versions and what to do: without migrate, from a newer program, and if migrate throws', () => {
  const unready = slice('cart', { version: 2, initial: [], on: {} });
  const broken = slice('cart', { version: 2, initial: [], on: {}, migrate: () => JSON.parse('{') });
  for (const [one, from, message] of [
    [unready, 1, /"cart" is stored in version 1.*version 2.*migrate\(state, fromVersion\)/],
    [next, 4, /"cart" is stored in version 4.*version 3, which is older/],
    [broken, 1, /migrate\(state, 1\) failed: .*JSON/],
  ] as const) {
    const session = Session.fromJSON({ version: 1, slices: { cart: { version: from, state: [] } } }, keep);
    expect(() => session.read(one as never)).toThrow(SliceVersionError);
    expect(() => session.register(one)).toThrow(message);
    expect(session.toJSON().slices.cart).toEqual({ version: from, state: [] });
  }
});

test('[A6] a call without effects reads a stored slice, and a failed call leaves it as it was stored', async () => {
  const session = Session.fromJSON(stored, keep);
  const look = tool({
    description: 'Looks.',
    effects: 'none',
    inputSchema: z.object({}),
    execute: (_input, { session }) => session.read(next).join(),
  });
  const fail = tool({
    description: 'Fails.',
    inputSchema: z.object({}),
    execute(_input, { session }) {
      session.read(next);
      throw new Error('x');
    },
  });
  const { outcome } = await dispatchCall({ tools: { look }, session, call: { toolName: 'look' } });
  await dispatchCall({ tools: { fail }, session, call: { toolName: 'fail' } });
  expect(outcome).toMatchObject({ status: 'ok', value: 'apple/1' });
  expect(session.toJSON().slices.cart).toEqual(stored.slices.cart);
});

test('[A4] a journal restores the state of slices, even if their reducers have changed, and without their definitions', async () => {
  const journal = memoryJournal();
  const log = slice<readonly string[]>('log', {
    initial: [],
    policy: 'log',
    on: { ToolInvoked: (names, { toolName }: SessionEvent & { toolName: string }) => [...names, toolName] },
  });
  const look = tool({
    description: 'Looks.',
    effects: 'none',
    slices: [log],
    inputSchema: z.object({}),
    execute: async (_input, { session }) => session.read(cart).length,
  });
  const model = scriptedModel([
    [{ toolName: 'add', input: { item: 'apple' } }],
    [{ toolName: 'look' }, { toolName: 'look' }, { toolName: 'look' }],
    [{ toolName: 'add', input: { item: 'pear' } }, { toolName: 'unknown' }],
    'Done.',
  ]);
  await runTurn({ model, tools: { add: add(), look }, session: createSession(), prompt: 'Go', journal });
  const { session } = journal.restore();
  const renamed = slice<readonly string[]>('cart', { initial: [], on: { ItemAdded: () => ['wrong'] } });
  expect([session.read(renamed), session.read(log)]).toEqual([
    ['apple', 'pear'],
    ['add', 'look', 'look', 'look', 'add', 'unknown'],
  ]);
  const known = createSession({ slices: [next] });
  replay(known, journal.records);
  expect(known.read(next)).toEqual(['apple/1', 'pear/1']);
});

test('[A4] a call whose state JSON cannot hold fails if there is a journal, naming slice and place', async () => {
  const price = slice('price', { initial: { of: 1 }, on: { Added: () => ({ of: Number.NaN }) } });
  const model = scriptedModel([[{ toolName: 'add', input: { item: 'apple' } }], 'Done.']);
  const session = createSession({ slices: [price] });
  const { settlements } = await runTurn({
    model,
    tools: { add: add() },
    session,
    prompt: 'Go',
    journal: memoryJournal(),
  });
  expect(settlements[0]?.outcome).toMatchObject({
    status: 'error',
    text: expect.stringContaining('Slice "price" cannot be stored: it holds NaN at .of'),
  });
  expect(session.read(price)).toEqual({ of: 1 });
});

const adding = (item: string) => scriptedModel([[{ toolName: 'add', input: { item } }], 'Done.']);

test('[A6] a slice that a replay migrated is written whole, so that the journal can be replayed again', async () => {
  const journal = memoryJournal();
  await runTurn({ model: adding('apple'), tools: { add: add() }, session: createSession(), prompt: 'Go', journal });
  const later = createSession({ slices: [next] });
  replay(later, journal.records);
  await runTurn({ model: adding('pear'), tools: { add: add([next]) }, session: later, prompt: 'Go', journal });
  const again = createSession({ slices: [next] });
  replay(again, journal.records);
  expect(again.read(next)).toEqual(['apple/1', 'pear']);
});

test('[A4] events that the host dispatches between two turns are in the journal with the next end of a call', async () => {
  const journal = memoryJournal();
  const session = createSession({ slices: [cart] });
  await runTurn({ model: adding('apple'), tools: { add: add() }, session, prompt: 'Go', journal });
  session.dispatch<Added>({ type: 'Added', item: 'of the host' });
  await runTurn({ model: adding('pear'), tools: { add: add() }, session, prompt: 'Go', journal });
  expect(journal.restore().session.read(cart)).toEqual(['apple', 'of the host', 'pear']);
});

test('[A4] a log that cannot be stored is not changed, and later calls succeed', async () => {
  const errors: unknown[] = [];
  const session = createSession({
    slices: [
      slice('mean', {
        initial: { of: 1 },
        policy: 'log',
        on: {
          ToolInvoked: (mean, { outcome }: SessionEvent & { outcome: { status: string } }) =>
            outcome.status === 'ok' ? mean : { of: Number.NaN },
        },
      }),
    ],
    logger: { debug() {}, info() {}, warn() {}, error: (...told) => void errors.push(told) },
  });
  const model = scriptedModel([[{ toolName: 'unknown' }, { toolName: 'add', input: { item: 'apple' } }], 'Done.']);
  const journal = memoryJournal();
  const { settlements } = await runTurn({ model, tools: { add: add() }, session, prompt: 'Go', journal });
  expect(settlements.map(({ outcome }) => outcome.status)).toEqual(['error', 'ok']);
  expect(session.toJSON().slices.mean?.state).toEqual({ of: 1 });
  expect(errors).toHaveLength(1);
});

test('[A4] an event of the host that JSON cannot hold is refused at once, and a turn with such a state before the model is asked', async () => {
  const price = slice('price', { initial: 1, on: { Priced: (_price, { of }: SessionEvent & { of: number }) => of } });
  const session = createSession({ slices: [price] });
  const journal = memoryJournal();
  await runTurn({ model: adding('apple'), tools: { add: add() }, session, prompt: 'Go', journal });
  expect(() => session.dispatch({ type: 'Priced', of: Number.NaN })).toThrow('Slice "price" cannot be stored');
  expect(session.read(price)).toBe(1);
});

test('[A4] an array of 200,000 new items is restored', () => {
  const items = Array.from({ length: 200_000 }, (_, index) => index);
  const patch = diffState([-1], [-1, ...items], () => {});
  expect(patchState([-1], patch ?? { is: [] })).toHaveLength(200_001);
});

test.each([
  { state: [1, 2], patch: { from: 1, removed: 2, added: [3] } },
  { state: { a: 1 }, patch: { from: 0, removed: 0, added: [3] } },
  { state: { a: 1 }, patch: { items: { 0: { is: 1 } } } },
  { state: [1], patch: { fields: { a: { is: 1 } } } },
])('[A4] the patch $patch is refused for the state $state, from which it was not made', ({ state, patch }) => {
  expect(() => patchState(state, patch as never)).toThrow('A stored change does not fit the state before it.');
});

test('[A4] a sliding window is stored as a whole, not as a difference of each item', () => {
  const items = Array.from({ length: 200 }, (_, id) => ({ id, text: `item ${id}` }));
  const moved = [...items.slice(1), { id: 200, text: 'item 200' }];
  expect(diffState(items, moved, () => {})).toEqual({ is: moved });
});

test('[A5] the slices of a tool are registered when the tool is offered, and when it is called', async () => {
  const session = createSession();
  await runTurn({ model: scriptedModel(['Hi.']), tools: { add: add() }, session, prompt: 'Go' });
  expect(session.toJSON().slices.cart).toEqual({ version: 1, state: [] });
  const other = createSession();
  const call = { toolName: 'add', input: { item: 'apple' } };
  expect(await dispatchCall({ tools: { add: add() }, session: other, call })).toMatchObject({
    outcome: { status: 'ok' },
  });
  expect(other.read(cart)).toEqual(['apple']);
  expect(() => add([5 as never])).toThrow('slices must be an array of slices');
});

test('an event that no slice knows is refused with the nearest one, also if the tool catches that; one with a subscriber is not', async () => {
  const session = createSession({ slices: [cart] });
  expect(() => session.dispatch({ type: 'Aded' })).toThrow(
    'knows the event "Aded". Did you mean "Added"? Its slices: "cart".',
  );
  expect(() => createSession().dispatch({ type: 'Added' })).toThrow(
    'It has no slices. Give the slice to createSession',
  );
  expect(() => Session.fromJSON(stored, keep).dispatch({ type: 'Added' })).toThrow('not used by any tool yet: "cart"');
  const careless = tool({
    description: 'Adds.',
    effects: 'session',
    inputSchema: z.object({}),
    execute(_input, { session }) {
      try {
        session.dispatch({ type: 'Aded' });
      } catch {}
      return 'fine';
    },
  });
  const { outcome } = await dispatchCall({ tools: { careless }, session, call: { toolName: 'careless' } });
  expect(outcome).toMatchObject({ status: 'error', text: expect.stringContaining('"Aded"') });
  const heard: string[] = [];
  session.subscribe('Aded', ({ type }) => heard.push(type));
  session.dispatch({ type: 'Aded' });
  expect(heard).toEqual(['Aded']);
});

/** A state, and a second state that shares parts with it, as reducers make them. */
const states = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), fc.infiniteStream(fc.nat(5)))
  .map(([before, other, choices]) => {
    const plain = JSON.parse(JSON.stringify([before, other])) as [unknown, unknown];
    return [plain[0], mixed(plain[0], plain[1], () => choices.next().value as number)] as const;
  });

function mixed(before: unknown, other: unknown, choose: () => number): unknown {
  const chosen = choose();
  if (chosen === 0) return other;
  if (Array.isArray(before)) {
    const items = before.map((item) => (choose() < 4 ? item : mixed(item, other, choose)));
    return chosen === 1 ? items.slice(1) : chosen === 2 ? [...items, other] : items;
  }
  if (typeof before !== 'object' || before === null) return before;
  const fields = Object.entries(before).map(([key, value]) => [
    key,
    choose() < 4 ? value : mixed(value, other, choose),
  ]);
  if (chosen === 1) fields.shift();
  if (chosen === 2) fields.push(['added', other]);
  if (chosen === 3) fields.reverse();
  return Object.fromEntries(fields);
}

test('[A4] a patch that was stored as JSON turns the previous state into the next one, with the fields in order', () => {
  fc.assert(
    fc.property(states, ([before, after]) => {
      const patch = diffState(deepFreeze(before, undefined), deepFreeze(after, undefined), () => {});
      const made = patch === undefined ? before : patchState(before, JSON.parse(JSON.stringify(patch)));
      expect(JSON.stringify(made)).toBe(JSON.stringify(after));
    }),
    { numRuns: 500 },
  );
});

test('[A4] the size of a patch depends on the change, not on the state', () => {
  const items = Array.from({ length: 1_000 }, (_, id) => ({ id, text: 'x'.repeat(50) }));
  const sizeOf = (after: unknown): number => JSON.stringify(diffState({ items }, after, () => {})).length;
  expect(sizeOf({ items: [...items, { id: 1_000 }] })).toBeLessThan(100);
  expect(sizeOf({ items: items.slice(1) })).toBeLessThan(100);
  expect(sizeOf({ items: items.with(500, { id: 500, text: 'y' }) })).toBeLessThan(100);
});
