// Triage opens a refund, the refund pays when that is approved, answers with a terminal tool, and hands the case back when it is closed.

import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { createMachine, describeMachine, runMachine } from '@lastcall/machines';
import { desk } from './charter.ts';

const machine = createMachine(desk, { root: 'triage' });

async function say(input: string, script: ScriptedReply[]): Promise<void> {
  console.log(`> ${input}`);
  await run(script, input);
}

async function run(script: ScriptedReply[], ...input: string[]): Promise<void> {
  for await (const step of runMachine(machine, { model: scriptedModel(script), input })) {
    for (const { node, toolName, outcome } of step.settlements) console.log(`  ${node}: ${toolName} ${outcome.status}`);
    if (step.response !== undefined) console.log(`${step.response}\n`);
  }
}

await say('I want my money back for order A-17.', [
  { toolName: 'transition_refund', input: { orderId: 'A-17' } },
  // Too early: a terminal tool that fails does not end the turn.
  { toolName: 'formatReceipt' },
  { toolName: 'payBack' },
]);

const [waiting] = machine.suspended;
console.log(`${waiting?.node} waits for the approval of ${waiting?.toolName}. It is approved.`);
machine.resume(waiting?.id ?? '', true);
await run([{ toolName: 'formatReceipt' }]);

await say('Thank you, that is all.', [
  { toolName: 'transition_close', input: { note: 'Paid back and content.' } },
  'You are welcome, Ada.',
]);

console.log(`Cases so far: ${JSON.stringify(machine.primary?.state)}\n`);
console.log(describeMachine(machine));
