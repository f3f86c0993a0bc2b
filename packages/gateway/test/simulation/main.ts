import './replace-globals.ts';
import { parseArgs } from 'node:util';
import { check, type Problem } from './checks.ts';
import { MemoryDatabase } from './memory-database.ts';
import { type EndedWorld, runWorld, type WorldOptions } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    log: { type: 'boolean', default: false },
  },
});
const memory = await MemoryDatabase.open();
const n = Number(values.seeds ?? 1), from = Number(values.seed ?? values.from);
const t0 = process.hrtime.bigint();
let faults = 0, failed = 0;
for (let seed = from; seed < from + n; seed++) {
  const world = await runWorld(memory, { seed });
  const { db } = world.database;
  const problems = await check({ db, ledger: world.ledger });
  faults += world.faults.length;
  if (values.log) process.stdout.write(world.log.join('\n') + '\n');
  if (problems.length) { failed++; process.stdout.write(`seed ${seed}: ${problems.map((p) => `\n   ${p.check}: ${p.text}`).join('')}\n`);}
}
const s = Number(process.hrtime.bigint() - t0) / 1e9;
process.stdout.write(`${n} worlds, ${failed} failed, ${(n / s).toFixed(1)} worlds/s ${(faults / s).toFixed(1)} faults/s\n`);
