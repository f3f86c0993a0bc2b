import './replace-globals.ts';
import { parseArgs } from 'node:util';

/**
 * `npm run simulate`: worlds of gateways, people and tools in this process, with virtual time, each from its seed. See docs/simulation.md.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
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
const { simulate } = await import('./simulate.ts');
process.exitCode = await simulate({
  ...(values.seed === undefined
    ? { from: Number(values.from), count: values.minutes === undefined ? Number(values.seeds ?? 100) : undefined }
    : { from: Number(values.seed), count: 1 }),
  minutes: values.minutes === undefined ? undefined : Number(values.minutes),
  isLogged: values.log || values.seed !== undefined,
  isShrunk: !values['no-shrink'],
  isUntilFound: values.plant !== undefined,
  isViolated: values.violate,
});
