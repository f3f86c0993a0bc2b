import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { ask } from './api.ts';
import { CONFIG_FILE, findPlace, openSite } from './site.ts';

test('[G62] a gateway that starts with a longer file has everything in it, and logs what was added', async () => {
  const config = (agents: readonly string[], people: readonly string[]): string =>
    `export default ${JSON.stringify({
      agents: agents.map((name) => ({ name, instructions: '' })),
      spaces: [{ name: 'Desk', agents, people: people.map((name) => ({ name })) }],
    })};\n`;
  await using site = await openSite({ decide: doDuties, config: config(['Anna', 'Bert'], ['Ada']) });
  const first = await site.start('a');
  first.send('SIGTERM');
  await first.exited;
  await writeFile(join(site.folder, CONFIG_FILE), config(['Anna', 'Cleo'], ['Ada', 'Bob']));
  const second = await site.start('b');
  const { spaces } = await findPlace(second.url);
  const { items } = await ask(second.url, `/api/spaces/${spaces.Desk}/members`);
  const names = items.map(({ displayName }: { displayName: string }) => displayName);
  expect(names.toSorted()).toEqual(['Ada', 'Anna', 'Bert', 'Bob', 'Cleo']);
  expect(second.printed.out).toContain('The agent \\"Bert\\"');
  expect(second.printed.out).toContain('Added \\"Cleo\\" to the space \\"Desk\\", as the configuration says.');
});
