import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S28] the list of spaces can be read to its end, and new messages are counted in all of them', async () => {
  await using studio = await startStudio(browser(), {
    agents: [{ name: 'Clerk', instructions: 'Help.' }],
    spaces: Array.from({ length: 102 }, (_, index) => ({
      ...{ name: `Room ${index}`, people: ['Ada', 'Ben'].map((name) => ({ name, externalId: name })) },
    })),
  });
  const last = (await studio.gateway.api('/api/spaces?limit=200')).items.at(-1);
  const said = { entityId: await studio.person('Ben'), text: 'Anyone here?' };
  await studio.gateway.api(`/api/spaces/${last.id}/messages`, said);
  const { page, problems } = await studio.open('/spaces');
  const rows = page.getByRole('main').getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(100);
  await page.getByRole('link', { name: /^Spaces.*1 new/ }).waitFor();
  const more = page.getByRole('button', { name: 'Show more spaces' });
  await more.click();
  await expect.poll(() => rows.count()).toBe(102);
  expect(await more.count()).toBe(0);
  expect(problems).toEqual([]);
});
