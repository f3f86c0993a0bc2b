import './replace-globals.ts';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/**
 * `npm run simulate`: worlds of gateways, people and tools in this process, with virtual time, each from its seed. See docs/simulation.md.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    every: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    processes: { type: 'string' },
    log: { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
    plant: { type: 'string' },
    plants: { type: 'boolean', default: false },
    violate: { type: 'boolean', default: false },
  },
});

if (values.plants) {
  const { recheckPlants } = await import('./recheck-plants.ts');
  process.exit(await recheckPlants((line) => process.stdout.write(`${line}\n`)));
}
if (values.plant !== undefined) {
  const { plant } = await import('./plant-hook.ts');
  plant(values.plant);
}
// Imported after the planted fault is known.
const { secondsNow, simulate, tell, violateAll } = await import('./simulate.ts');
if (values.violate) {
  await violateAll();
  process.exit();
}
const startedAt = secondsNow();
const isOne = values.seed !== undefined;
const options = {
  from: Number(values.seed ?? values.from),
  count: isOne ? 1 : values.minutes === undefined ? Number(values.seeds ?? 100) : undefined,
  every: Number(values.every),
  minutes: values.minutes === undefined ? undefined : Number(values.minutes),
  isLogged: values.log || isOne,
  isShrunk: !values['no-shrink'],
  isUntilFound: values.plant !== undefined,
};
// The first seed that finds a planted fault, and a log in the order of seeds, come from one process.
const isAlone = isOne || options.isLogged || options.isUntilFound;
const processes = Number(values.processes ?? (isAlone ? 1 : availableParallelism()));
if (process.send !== undefined) {
  // This process has a share of the seeds.
  process.send(await simulate(options));
  process.disconnect();
} else if (processes === 1) process.exitCode = tell(await simulate(options), secondsNow() - startedAt);
else {
  const { simulateInProcesses } = await import('./simulate-in-processes.ts');
  process.exitCode = tell(await simulateInProcesses(options, processes), secondsNow() - startedAt);
}
