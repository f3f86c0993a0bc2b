import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { charter, createMachine, node, runMachine, runMachineToCompletion, spawn } from '../../src/index.ts';

const hire = { hire: { description: 'H.', handler: () => spawn('hand') } };

test("[A18] a node's own model is asked for its instances, and the run's model for the others", async () => {
  const own = scriptedModel(['Done.']);
  const hand = node({ instructions: 'hand', worker: true, model: own });
  const boss = node({ instructions: 'boss', transitions: hire });
  const machine = createMachine(charter({ nodes: { boss, hand } }), { root: 'boss' });
  const model = scriptedModel([{ toolName: 'transition_hire' }, 'Good.']);
  const asked: string[] = [];
  const onEvent = ({ type, instanceId, node: name }: { type: string; instanceId: string; node: string }) => {
    if (type === 'turn.end') asked.push(`${instanceId} ${name}`);
  };
  const { response } = await runMachineToCompletion(machine, { model, input: 'Go.', onEvent });
  expect([response, own.requests.length, model.requests.length]).toEqual(['Good.', 1, 2]);
  expect(asked).toEqual(['root boss', 'root.1 hand', 'root boss']);
});

test("[A18] a node names its model, and the run's function looks it up", async () => {
  const hand = node({ instructions: 'hand', worker: true, model: 'small' });
  const boss = node({ instructions: 'boss', transitions: hire });
  const made = charter({ nodes: { boss, hand } });
  const names: (string | undefined)[] = [];
  const replies = scriptedModel([{ toolName: 'transition_hire' }, 'Done.', 'Good.']);
  await runMachineToCompletion(createMachine(made, { root: 'boss' }), {
    model: ({ model }) => {
      names.push(model);
      return replies;
    },
    input: 'Go.',
  });
  expect(names).toEqual([undefined, 'small', undefined]);
  expect(() => runMachine(createMachine(made, { root: 'boss' }), { model: replies })).toThrow(
    'must be a function, because the node "hand" names its model',
  );
});

test('[A18] a value that is not a model is refused when the charter is built', () => {
  for (const model of ['', 7, {}, null])
    expect(() => charter({ nodes: { a: node({ instructions: 'a', model: model as never }) } })).toThrow(
      'nodes.a.model',
    );
});
