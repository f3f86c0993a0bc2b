import { expect, test } from 'vitest';
import { runSimulation } from './run-simulation.ts';

test('[Z3] each check fails when its invariant is broken in a world that kept it', async () => {
  const { text } = await runSimulation('--violate');
  const noticed = JSON.parse(text) as Record<string, readonly string[]>;
  expect(Object.keys(noticed).length).toBeGreaterThan(15);
  for (const [name, checks] of Object.entries(noticed)) expect(checks).toContain(name);
});
