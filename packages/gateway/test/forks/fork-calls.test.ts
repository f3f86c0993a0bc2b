import { expect, test } from 'vitest';
import { ForkCalls } from '../../src/runtime/forks/fork-calls.ts';

const ended = (callId: string, instanceId: string | undefined, text: string, changes: readonly object[] = []) => ({
  callId,
  toolName: 'pay',
  input: { n: 1 },
  outcome: { status: 'ok', value: text, text } as const,
  instanceId,
  isTerminal: false,
  staged: { events: [], machine: changes.map((change) => ({ kind: 'machine', change })) },
});
const pay = (callId: string, instanceId: string | undefined) => ({
  callId,
  toolName: 'pay',
  input: { n: 1 },
  instanceId,
});

test('[E2] each instance of a machine gets the outcomes of its own calls first, and then those of others that did nothing to the machine', () => {
  const patched = { kind: 'patched', target: { kind: 'instance', id: 'root.2' }, set: {}, unset: [] };
  const recorded = [ended('a', 'root.1', 'one'), ended('b', 'root.2', 'two'), ended('c', 'root.2', 'three', [patched])];
  const calls = new ForkCalls({ recorded, ends: [], waits: [] }, {});
  const given = ['root.2', 'root.1', 'root.2', 'root.1', 'root.1', 'root.2', 'root.2'].map(
    (instanceId, index) => calls.endOf(pay(`call-${index}`, instanceId))?.outcome.text,
  );
  expect(given).toEqual(['two', 'one', 'three', 'two', undefined, 'one', undefined]);
  // The same call gets the same outcome again.
  expect(calls.endOf(pay('call-1', 'root.1'))?.outcome.text).toBe('one');
});

test('[E2] a worker that takes a fork over gives no recorded end a second time', () => {
  const recorded = [ended('a', undefined, 'one'), ended('b', undefined, 'two')];
  const made = { ...pay('call-1', undefined), outcome: { status: 'ok', value: 'one', text: 'one' } as const };
  const ends = [{ settlement: { ...made, startedAt: 0, endedAt: 0 }, instanceId: undefined }];
  const calls = new ForkCalls({ recorded, ends, waits: [] }, {});
  expect(calls.endOf(pay('call-2', undefined))?.outcome.text).toBe('two');
  expect(calls.endOf(pay('call-1', undefined))?.outcome.text).toBe('one');
});

test('[E2] the tool of an approved call that waited when the run was forked may act outside', () => {
  const { outcome: _outcome, ...call } = ended('a', 'root.1', '');
  const settlement = {
    ...call,
    startedAt: 0,
    endedAt: 0,
    outcome: { status: 'pending', kind: 'approval', text: '' } as const,
  };
  const waits = [{ settlement, instanceId: 'root.1' }];
  const calls = new ForkCalls({ recorded: [], ends: [], waits }, { a: { approve: true } });
  expect([...calls.realTools]).toEqual(['pay']);
});
