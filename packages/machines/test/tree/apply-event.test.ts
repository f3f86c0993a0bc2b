import { describe, expect, test } from 'vitest';
import { toPlain } from '../../src/charter/plain.ts';
import { applyEvent } from '../../src/tree/apply-event.ts';
import { LeafIndex } from '../../src/tree/leaf-index.ts';
import { Ledger } from '../../src/tree/ledger.ts';
import {
  chainOf,
  findInstance,
  type Instance,
  inTreeOrder,
  type Tree,
  walk,
  withInstance,
} from '../../src/tree/tree.ts';
import type { Seed, TreeEvent } from '../../src/tree/tree-event.ts';

const leaf: Instance = {
  id: 'root',
  node: 'a',
  state: { n: 0, m: 0 },
  worker: false,
  phase: { kind: 'ready' },
  waits: [],
  born: 0,
  children: [],
};
const tree: Tree = { root: leaf, packs: { p: { x: 0 } }, queue: [], speaker: 'root' };
const seed = (worker: boolean): Seed => ({ node: 'b', state: {}, worker });
const apply = (from: Tree, ...events: readonly TreeEvent[]): Tree =>
  events.reduce((next, event) => applyEvent(next, event).tree, from);
const spawned = (id: string, ...workers: readonly boolean[]): TreeEvent => ({
  kind: 'spawned',
  id,
  children: workers.map(seed),
});
const patched = (id: string, set: Record<string, number>, unset: readonly string[] = []): TreeEvent => ({
  kind: 'patched',
  target: { kind: 'instance', id },
  set,
  unset,
});

describe('a tree and what happens to it', () => {
  test('an event does not change the previous tree', () => {
    const before = JSON.stringify(tree);
    apply(
      tree,
      spawned('root', true, false),
      patched('root.1', { k: 1 }),
      { kind: 'ceded', id: 'root.1', content: 'x' },
      { kind: 'removed', id: 'root.1' },
    );
    expect(JSON.stringify(tree)).toBe(before);
  });

  test('[M14] patches are per field: two patches of different fields are both kept, in either order', () => {
    const events = [patched('root', { n: 1 }), patched('root', { m: 2 })];
    expect(apply(tree, ...events).root.state).toEqual({ n: 1, m: 2 });
    expect(apply(tree, ...events.toReversed()).root.state).toEqual({ n: 1, m: 2 });
    expect(apply(tree, patched('root', {}, ['m'])).root.state).toEqual({ n: 0 });
  });

  test('[M15] a pack has one state, at the root', () => {
    const event: TreeEvent = { kind: 'patched', target: { kind: 'pack', name: 'p' }, set: { x: 5 }, unset: [] };
    expect(apply(tree, event).packs).toEqual({ p: { x: 5 } });
  });

  test('[M8] ids are numbered below the parent, and never reused', () => {
    const gone = apply(
      tree,
      spawned('root', true, true),
      { kind: 'ceded', id: 'root.2', content: null },
      { kind: 'removed', id: 'root.2' },
    );
    const next = apply(
      gone,
      { kind: 'moved', id: 'root', node: 'a', state: {} },
      spawned('root', true),
      spawned('root.3', true),
    );
    expect([...walk(next.root)].map(({ id }) => id)).toEqual(['root', 'root.3', 'root.3.1']);
  });

  test('[M8] at most one child is not a worker, ever', () => {
    expect(() => apply(tree, spawned('root', false, false))).toThrow('both talk with the user');
    expect(() => apply(tree, spawned('root', false), spawned('root', false))).toThrow('both talk with the user');
    const deep = apply(tree, spawned('root', true, false), spawned('root.1', false, false), spawned('root.2', false));
    expect(findInstance(deep, 'root.1.1')?.worker).toBe(true);
    expect(deep.speaker).toBe('root.2.1');
  });

  test('[M9] the parent gets the result of a child that ceded, and only a leaf that is not the root may cede', () => {
    const ceded = apply(tree, spawned('root', false), { kind: 'ceded', id: 'root.1', content: { k: 1 } });
    const { tree: next, effects } = applyEvent(ceded, { kind: 'removed', id: 'root.1' });
    expect(effects).toEqual([{ kind: 'say', id: 'root', text: '"b" (root.1) has finished. Its result:\n\n{"k":1}' }]);
    expect(next.speaker).toBe('root');
    expect(() => apply(tree, { kind: 'ceded', id: 'root', content: null })).toThrow('root cannot cede');
    expect(() => apply(tree, { kind: 'removed', id: 'root' })).toThrow('has not ceded');
    const parent = apply(tree, spawned('root', true), spawned('root.1', true));
    expect(() => apply(parent, { kind: 'ceded', id: 'root.1', content: null })).toThrow('only a leaf can cede');
  });

  test('an event about an instance that is gone is refused', () => {
    expect(() => apply(tree, patched('root.4', { n: 1 }))).toThrow('no instance "root.4" any more');
    expect(findInstance(tree, 'other')).toBeUndefined();
    expect(chainOf(tree, 'root.1.1')).toEqual([]);
  });

  test('[M18] queued messages come out in order, and wake an idle instance unless all of them are silent', () => {
    const message = (text: string, silent: boolean): TreeEvent => ({
      kind: 'queued',
      message: { message: { role: 'user', content: [{ type: 'text', text }] }, silent },
    });
    const idle = apply(tree, { kind: 'phased', id: 'root', phase: 'idle' });
    const queued = apply(idle, message('a', true), message('b', false));
    const one = apply(queued, { kind: 'delivered', count: 1 });
    expect(one.root.phase.kind).toBe('idle');
    expect(one.queue).toHaveLength(1);
    expect(apply(one, { kind: 'delivered', count: 1 }).root.phase.kind).toBe('ready');
  });

  test('an answer belongs to its own call', () => {
    const wait = (callId: string): TreeEvent => ({
      kind: 'waiting',
      id: 'root',
      wait: { callId, toolName: 't', kind: 'result', input: {}, reason: null },
    });
    const waiting = apply(tree, wait('x'), wait('y'), {
      kind: 'answered',
      id: 'root',
      callId: 'y',
      answer: { result: 1 },
    });
    expect(waiting.root.waits).toMatchObject([{ callId: 'x' }, { callId: 'y', answer: { result: 1 } }]);
    expect(waiting.root.waits[0]).not.toHaveProperty('answer');
    expect(apply(waiting, wait('y')).root.waits[1]).not.toHaveProperty('answer');
    expect(apply(waiting, { kind: 'settled', id: 'root', callId: 'x' }).root.waits).toHaveLength(1);
  });
});

describe('the shape of a tree', () => {
  test('tree order is that of the numbers, parents first', () => {
    const ids = ['root.10', 'root.2.1', 'root', 'root.2', 'root.2.10', 'root.2.9'];
    expect(ids.sort(inTreeOrder)).toEqual(['root', 'root.2', 'root.2.1', 'root.2.9', 'root.2.10', 'root.10']);
  });

  test('a change copies the path to it and shares all the rest: a step costs what its leaves cost', () => {
    let wide = apply(tree, { kind: 'spawned', id: 'root', children: Array.from({ length: 1000 }, () => seed(true)) });
    for (const id of ['root.3', 'root.500']) wide = apply(wide, spawned(id, true, true));
    const next = apply(wide, patched('root.500.2', { k: 1 }));
    const changed = next.root.children.filter((child, index) => child !== wide.root.children[index]);
    expect(changed.map(({ id }) => id)).toEqual(['root.500']);
    expect(changed[0]?.children[0]).toBe(findInstance(wide, 'root.500.1'));
    expect(findInstance(next, 'root.500.2')?.state).toEqual({ k: 1 });
  });

  test('the index finds the instances that act without reading the others', () => {
    const looked: string[] = [];
    let wide = apply(tree, { kind: 'spawned', id: 'root', children: Array.from({ length: 300 }, () => seed(true)) });
    const index = new LeafIndex(wide);
    for (let at = 1; at <= 300; at++) {
      if (at % 100 === 0) continue;
      const wait = { callId: `c${at}`, toolName: 't', kind: 'result', input: {}, reason: null } as const;
      const id = `root.${at}`;
      wide = apply(wide, { kind: 'phased', id, phase: 'suspended' }, { kind: 'waiting', id, wait });
      index.update(wide, [`root.${at}`]);
    }
    const watched = new Proxy(wide, { get: (target, key) => (looked.push(String(key)), Reflect.get(target, key)) });
    expect(index.active(watched, () => 0)).toEqual(['root.100', 'root.200', 'root.300']);
    expect(looked).toEqual([]);
    expect(index.suspended.size).toBe(297);
    expect([...new LeafIndex(wide).ready].sort(inTreeOrder)).toEqual(['root.100', 'root.200', 'root.300']);
  });

  test('removing an instance changes only its parent', () => {
    const wide = apply(tree, spawned('root', true, true, true));
    const next = withInstance(wide, 'root.2', () => undefined);
    expect(next.root.children.map(({ id }) => id)).toEqual(['root.1', 'root.3']);
    expect(next.root.children[1]).toBe(wide.root.children[2]);
  });
});

describe('the ledger', () => {
  const write = (...fields: readonly string[]): TreeEvent[] => [
    patched('root', Object.fromEntries(fields.map((name) => [name, 1]))),
  ];

  test("[M14] a field that another writer committed since one's first read is a conflict; another field, or one's own commit, is none", () => {
    const ledger = new Ledger();
    const began = ledger.now;
    ledger.commit('one', write('a'));
    expect(ledger.claim('two', began, write('b', 'a'))).toEqual({ field: 'a' });
    expect(ledger.claim('two', began, write('b'))).toBeUndefined();
    expect(ledger.claim('one', began, write('a'))).toBeUndefined();
    expect(ledger.claim('two', ledger.now, write('c'))).toBeUndefined();
    expect(ledger.claim('three', ledger.now, [patched('root.1', { a: 1 })])).toBeUndefined();
  });

  test('[M14] a claimed field is taken until it is released', () => {
    const ledger = new Ledger();
    expect(ledger.claim('one', ledger.now, write('a b'))).toBeUndefined();
    expect(ledger.claim('two', ledger.now, write('a b'))).toEqual({ field: 'a b' });
    ledger.release('one');
    expect(ledger.claim('two', ledger.now, write('a b'))).toBeUndefined();
    ledger.clear();
    expect(ledger.claim('one', 0, write('a b'))).toBeUndefined();
  });

  test("[M14] one's own later commit does not hide another's", () => {
    const ledger = new Ledger();
    const began = ledger.now;
    ledger.commit('one', write('a'));
    ledger.commit('two', write('a'));
    expect(ledger.claim('two', began, write('a'))).toEqual({ field: 'a' });
  });
});

describe('plain data', () => {
  test('is copied and frozen in depth, and what JSON would lose is refused with its path', () => {
    const given = { a: [{ b: 1, c: undefined }], ['__proto__']: 2, z: -0 };
    const plain = toPlain(given, 'state');
    expect(JSON.stringify(plain)).toBe(JSON.stringify({ ...given, z: 0 }));
    expect(Object.isFrozen((plain as { a: readonly object[] }).a[0])).toBe(true);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const bad: [unknown, string][] = [
      [{ a: [1, { at: new Date() }] }, 'state.a[1].at'],
      [{ a: Number.NaN }, 'state.a'],
      [{ a: 1n }, 'state.a'],
      [[undefined], 'state[0]'],
      [new (class Own {})(), 'state'],
      [cycle, 'holds itself'],
    ];
    for (const [value, says] of bad) expect(() => toPlain(value, 'state')).toThrow(says);
  });
});
