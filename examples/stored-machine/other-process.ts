// This process has only the charter and the file.
import { readFileSync } from 'node:fs';
import { scriptedModel } from '@lastcall/core/testing';
import { deserializeMachine, runMachineToCompletion } from '@lastcall/machines';
import { orders } from './charter.ts';

const [, , file = ''] = process.argv;
const machine = deserializeMachine(orders, JSON.parse(readFileSync(file, 'utf8')));
const [waiting] = machine.suspended;
console.log(`other process: waits for "${waiting?.reason}", with ${JSON.stringify(machine.primary?.state)}`);
machine.resume(waiting?.id ?? '', { signedBy: 'Grace' });
const { response } = await runMachineToCompletion(machine, {
  model: scriptedModel([
    { toolName: 'transition_place' },
    'Placed: two chairs and a lamp, signed by Grace, and quickly.',
  ]),
});
console.log(`other process: ${response}`);
console.log(`other process: now at ${machine.primary?.node}`);
