import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { goTo } from './support/go-to.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S8] a link with values that a page does not know opens the page without them', async () => {
  await using studio = await startStudio(browser());
  const { api } = studio.gateway;
  const [{ id }] = (await api('/api/spaces')).items;
  await api(`/api/spaces/${id}/messages`, {
    entityId: await studio.person('Ada'),
    text: 'How is the weather in Tokyo?',
  });
  await expect.poll(async () => (await api('/api/runs?status=completed')).items.length).toBe(1);
  const [run] = (await api('/api/runs')).items;
  const { page, problems } = await studio.open('/inbox?show=lost');
  const main = page.getByRole('main');
  await main.getByText('Nothing is waiting for you.').waitFor();
  // A number is searched for as a text.
  await goTo(page, '/tools?q=5');
  await main.getByText('No tool matches.').waitFor();
  await goTo(page, `/runs/${run.id}?q=5555`);
  await main.getByText('No call of this run matches.').waitFor();
  await goTo(page, '/search?q=weather&kind=lost');
  await main
    .getByText('The search failed.')
    .or(main.getByRole('list', { name: 'Results' }))
    .or(main.getByText('Nothing was found.'))
    .first()
    .waitFor();
  expect(await main.getByText('The search failed.').count()).toBe(0);
  await goTo(page, '/usage?by=lost&days=1000');
  await main.getByRole('heading', { name: 'By day' }).waitFor();
  expect(problems).toEqual([]);
});
