import './replace-globals.ts';
import { MemoryDatabase } from './memory-database.ts';
import { runWorld } from './world.ts';
const memory = await MemoryDatabase.open();
const from = Number(process.argv[2] ?? 1), n = Number(process.argv[3] ?? 1);
const t0 = process.hrtime.bigint();
let faults = 0;
for (let seed = from; seed < from + n; seed++) {
  const world = await runWorld(memory, { seed });
  faults += world.faults.length;
  if (n === 1) process.stdout.write(world.log.join('\n') + '\n' + JSON.stringify(world.ledger.effects) + '\n');
  process.stdout.write(`${seed}: ${world.steps} steps ${world.virtualMs} ms ${world.faults.length} faults ${world.log.at(-1)}\n`);
}
const s = Number(process.hrtime.bigint() - t0) / 1e9;
process.stdout.write(`${(n / s).toFixed(1)} worlds/s ${(faults / s).toFixed(1)} faults/s\n`);
