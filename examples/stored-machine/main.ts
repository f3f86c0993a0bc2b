// A machine is stored as JSON while it waits for a signature, and another process finishes it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { createMachine, runMachineToCompletion, serializeMachine } from '@lastcall/machines';
import { orders } from './charter.ts';

const machine = createMachine(orders, { root: 'draft' });
const { yieldReason, suspended } = await runMachineToCompletion(machine, {
  input: 'Order two chairs and a lamp.',
  model: scriptedModel([
    [
      { toolName: 'addLine', input: { line: '2 chairs' } },
      { toolName: 'addLine', input: { line: '1 lamp' } },
      { toolName: 'transition_sign' },
    ],
  ]),
});
console.log(`first process: ${yieldReason}: ${suspended.map(({ reason }) => reason).join()}`);
// A message that arrives while it waits is stored with everything else.
machine.enqueue('And be quick about it.');

const folder = mkdtempSync(join(tmpdir(), 'lastcall-machine-'));
const file = join(folder, 'machine.json');
writeFileSync(file, JSON.stringify(serializeMachine(machine)));

const other = join(import.meta.dirname, 'other-process.ts');
process.stdout.write(
  execFileSync(process.execPath, ['--conditions=@lastcall/source', other, file], { encoding: 'utf8' }),
);
rmSync(folder, { recursive: true });
