import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;

beforeAll(async () => {
  studio = await startStudio(browser());
});
afterAll(async () => await studio[Symbol.asyncDispose]());

const create = async (path: string, body: object): Promise<string> => (await studio.gateway.api(path, body)).id;

test('[O3] a person is erased once their name is typed, and the page shows the progress until it is done', async () => {
  const person = await create('/api/entities', { kind: 'human', displayName: 'Grace' });
  const { page, problems } = await studio.open('/settings?tab=erasures');
  await page.getByText('Nothing was erased yet.').waitFor();
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('button', { name: 'Erase Grace' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase Grace?' });
  const erase = dialog.getByRole('button', { name: 'Erase for good' });
  expect(await erase.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('Graces');
  expect(await erase.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('Grace');
  expect(await accessibilityProblems(page)).toEqual([]);
  await erase.click();
  const row = page.getByRole('list', { name: 'Erasures' }).getByRole('listitem').filter({ hasText: person });
  await row.getByText(/^Erased /).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect((await studio.gateway.api(`/api/entities/${person}`)).displayName).toBe('[erased]');
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('button', { name: 'Erase Grace' }).waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});

test('[O3] a space and an agent are erased from their pages', async () => {
  const space = await create('/api/spaces', { name: 'Attic' });
  const agent = await create('/api/agents', { name: 'Clerk', instructions: 'File everything.' });
  const { page, problems } = await studio.open(`/spaces/${space}`);
  await page
    .getByRole('button', { name: /members/i })
    .first()
    .click();
  await page.getByRole('button', { name: 'Delete the space' }).click();
  await page.getByRole('dialog', { name: 'Erase Attic?' }).getByRole('textbox').fill('Attic');
  await page.getByRole('button', { name: 'Erase for good' }).click();
  const done = (id: string) =>
    page
      .getByRole('list', { name: 'Erasures' })
      .getByRole('listitem')
      .filter({ hasText: id })
      .getByText(/^Erased /);
  await done(space).waitFor();
  expect((await studio.gateway.request(`/api/spaces/${space}`)).status).toBe(404);
  await page.goto(`${studio.gateway.url}/agents/${agent}`);
  await page.getByRole('button', { name: 'Delete and erase Clerk' }).click();
  await page.getByRole('dialog', { name: 'Erase Clerk?' }).getByRole('textbox').fill('Clerk');
  await page.getByRole('button', { name: 'Erase for good' }).click();
  await done(agent).waitFor();
  expect(problems).toEqual([]);
});
