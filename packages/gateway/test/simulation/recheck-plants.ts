import { PLANTS, type Plant } from './plants.ts';
import { runSimulation } from './run-simulation.ts';

/** True if the world of the plant's seed breaks a promise with the mistake in the source. */
export async function isFound({ name, seed }: Plant): Promise<boolean> {
  const { text } = await runSimulation('--plant', name, '--from', String(seed), '--seeds', '1', '--no-shrink');
  return text.includes(`Failed seeds: ${seed}`);
}

/** Checks each planted fault with its seed. Returns the exit code: 1 if one is no longer found. */
export async function recheckPlants(print: (line: string) => void): Promise<number> {
  let missed = 0;
  for (const plant of PLANTS) {
    const found = await isFound(plant);
    if (!found) missed++;
    print(`${found ? 'found ' : 'MISSED'}  seed ${String(plant.seed).padStart(4)}  ${plant.name}`);
  }
  print(
    `${PLANTS.length - missed} of ${PLANTS.length} planted faults were found. To look for one again: npm run simulate -- --plant "<name>" --seeds 2000`,
  );
  return missed === 0 ? 0 : 1;
}
