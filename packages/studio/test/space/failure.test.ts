import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S8] what fails is said in words: an agent whose model fails, a space that one has left or that is not there; a draft outlives the page', async () => {
  await using studio = await startStudio(browser(), {
    model: scriptedModel(() => new Error('The model has no key.')),
    agents: [{ name: 'Clerk', instructions: 'Fail.', limits: { maxAttempts: 1 } }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { page, problems } = await studio.open('/');
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Hello?');
  await field.press('Enter');
  const failure = page.getByRole('alert');
  await failure.getByText('Clerk failed.').waitFor();
  await failure.getByRole('link', { name: 'run' }).waitFor();

  await field.fill('Not yet\nsent.');
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByText('Nothing waits for you.').waitFor();
  await page.reload();
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe('Not yet\nsent.');

  // Whoever is no longer a member cannot write here, and sees why.
  const [{ id: spaceId }] = (await studio.gateway.api('/api/spaces')).items;
  await studio.gateway.api(`/api/spaces/${spaceId}/members?entityId=${await studio.person('Ada')}`, undefined, {
    method: 'DELETE',
  });
  await page.getByText('You are not a member of this space').waitFor();
  await page.goto(`${studio.gateway.url}/spaces/nowhere`);
  await page.getByRole('alert').getByText('The space cannot be opened.').waitFor();
  expect(problems.filter((one) => !one.includes('404'))).toEqual([]);
});
