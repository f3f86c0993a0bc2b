import './replace-globals.ts';
import { availableParallelism } from 'node:os';
import { numberOption, readArguments } from '../support/command-options.ts';
import type { Tally } from './simulate.ts';

/**
 * `npm run simulate`: worlds of gateways, people and tools in this process, with virtual time, each from its seed. See docs/simulation.md.
 */
const HELP = `Runs simulated worlds, and checks that they keep every promise. See docs/simulation.md.
  --seed N         one world, and all that happens in it; with --seeds, the first of several
  --seeds N        how many worlds (100)
  --from N         the seed of the first (1)
  --minutes N      as many worlds as fit into this time
  --processes N    how many processes share the seeds (one for each processor)
  --json           the last line is JSON, for programs
  --log            prints all that happens
  --no-shrink      does not look for a smaller world that fails
  --plant NAME     plants a fault, and runs worlds until one fails
  --plants         checks each fault that can be planted`;

const { values } = readArguments(HELP, {
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    // For processes that share the seeds: how far it is from one seed to the next.
    share: { type: 'string' },
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
const { secondsNow, simulate, tell, toJsonLine, violateAll } = await import('./simulate.ts');
if (values.violate) {
  await violateAll();
  process.exit();
}
const startedAt = secondsNow();
const isOne = values.seed !== undefined && values.seeds === undefined && values.minutes === undefined;
const options = {
  from: values.seed === undefined ? numberOption('from', values.from, 0) : numberOption('seed', values.seed, 0),
  count: isOne ? 1 : values.minutes === undefined ? numberOption('seeds', values.seeds ?? '100', 1) : undefined,
  every: numberOption('share', values.share ?? '1', 1),
  minutes: values.minutes === undefined ? undefined : numberOption('minutes', values.minutes, 0),
  isLogged: values.log || isOne,
  isShrunk: !values['no-shrink'],
  isUntilFound: values.plant !== undefined,
};
// The first seed that finds a planted fault, and a log in the order of seeds, come from one process.
const isAlone = options.isLogged || options.isUntilFound;
const processes = isAlone ? 1 : numberOption('processes', values.processes ?? String(availableParallelism()), 1);
if (values.share !== undefined) {
  // The process that started this one has ended, so nothing waits for the result.
  process.once('disconnect', () => process.exit(1));
  const tally = await simulate(options);
  process.send?.(tally, undefined, undefined, () => process.exit(0));
} else if (processes === 1) process.exitCode = end(await simulate(options));
else {
  const { simulateInProcesses } = await import('./simulate-in-processes.ts');
  process.exitCode = end(await simulateInProcesses(options, processes));
}

/** Prints the last lines. Returns the exit code. */
function end(tally: Tally): number {
  const code = tell(tally, secondsNow() - startedAt);
  if (values.json) process.stdout.write(`${toJsonLine(tally)}\n`);
  return code;
}
