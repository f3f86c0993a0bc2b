import { getEventListeners } from 'node:events';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { charter, createMachine, node, runMachineToCompletion, spawn } from '../../src/index.ts';
import { AbortRelay } from '../../src/run/abort-relay.ts';

test('with any number of followers, the source has one listener, and none after the end', () => {
  const source = new AbortController();
  const relay = new AbortRelay(source.signal);
  const following = Array.from({ length: 100 }, () => relay.follow());
  expect(getEventListeners(source.signal, 'abort')).toHaveLength(1);
  relay.end();
  expect(getEventListeners(source.signal, 'abort')).toHaveLength(0);
  source.abort();
  expect(following.some(({ signal }) => signal.aborted)).toBe(false);
});

test('followers are aborted with the reason of the source, and those that left are not', () => {
  const source = new AbortController();
  const relay = new AbortRelay(source.signal);
  const [stays, leaves] = [relay.follow(), relay.follow()];
  leaves.leave();
  source.abort('enough');
  expect([stays.signal.aborted, stays.signal.reason, leaves.signal.aborted]).toEqual([true, 'enough', false]);
  expect(relay.follow().signal.reason).toBe('enough');
});

test('an abort reaches every leaf of a step, and the run leaves no listener on the signal', async () => {
  const worker = node({ worker: true, instructions: 'Wait.' });
  const lead = node({
    instructions: 'Lead.',
    transitions: { hire: () => spawn(Array.from({ length: 20 }, () => worker)) },
  });
  const machine = createMachine(charter({ nodes: { lead, worker } }), { root: 'lead' });
  const host = new AbortController();
  let asked = 0;
  const slow = scriptedModel(({ abortSignal }) => {
    if (++asked === 20) queueMicrotask(() => host.abort());
    return new Promise((_resolve, reject) => {
      abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
    });
  });
  const leads = scriptedModel([{ toolName: 'transition_hire' }]);
  const { steps, yieldReason } = await runMachineToCompletion(machine, {
    input: 'Go.',
    model: ({ worker }) => (worker ? slow : leads),
    signal: host.signal,
  });
  expect(yieldReason).toBe('error');
  expect(steps.at(-1)?.leaves.map(({ stop }) => stop.reason)).toEqual(Array.from({ length: 20 }, () => 'aborted'));
  expect(getEventListeners(host.signal, 'abort')).toHaveLength(0);
});
