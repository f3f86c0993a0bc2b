import { test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S8] a space with one member does not say "1 members"', async () => {
  await using studio = await startStudio(browser(), { spaces: [{ name: 'Desk', people: [{ name: 'Ada' }] }] });
  const [{ id }] = (await studio.gateway.api('/api/spaces')).items;
  const { page } = await studio.open(`/spaces/${id}`);
  await page.getByRole('button', { name: /1 member$/ }).waitFor();
});
