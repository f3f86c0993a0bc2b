import { waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { calm, clickStill } from '../support/calm.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S28] a space is created in the page, and members are added and removed', async () => {
  await using studio = await startStudio(browser());
  const { page, problems } = await studio.open('/spaces');
  await page.getByRole('button', { name: 'New space' }).click();
  await page.getByLabel('Name').fill('War room');
  await page.getByRole('button', { name: 'Make the space' }).click();
  await page.getByRole('heading', { name: 'War room' }).waitFor();
  await page
    .getByRole('button', { name: /[Mm]ember/ })
    .first()
    .click();
  const panel = page.getByRole('complementary', { name: 'Members' });
  await panel.getByText('Ada', { exact: true }).waitFor();
  await panel.getByLabel('Add to the space').selectOption({ label: 'Concierge' });
  await panel.getByRole('button', { name: 'Add', exact: true }).click();
  await panel.getByRole('listitem').filter({ hasText: 'Concierge' }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await panel.getByRole('button', { name: 'Remove Concierge' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await panel.getByRole('listitem').filter({ hasText: 'Concierge' }).waitFor({ state: 'detached' });
  const { items } = await studio.gateway.api('/api/spaces');
  const { id } = items.find(({ name }: { name: string }) => name === 'War room');
  const { items: members } = await studio.gateway.api(`/api/spaces/${id}/members`);
  expect(members.map(({ displayName }: { displayName: string }) => displayName)).toEqual(['Ada']);
  expect(problems).toEqual([]);
});

test('[S28] a space is renamed and archived in its menu: it takes no messages, its card can be answered, search finds it, and it comes back', async () => {
  await using studio = await startStudio(browser());
  const { gateway } = studio;
  const [{ id }] = (await gateway.api('/api/spaces')).items;
  const { page, problems } = await studio.open(`/spaces/${id}`);
  // Another tab that has the space open, of a person who may only take part.
  const other = await studio.open(`/spaces/${id}`, { scopes: [] });
  await page.getByRole('textbox', { name: /^Write to/ }).fill('Book a hotel in Tokyo');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: /^confirm_booking, waits/ }).waitFor();
  expect(await other.page.getByRole('button', { name: 'Menu of the space' }).count()).toBe(0);

  const menu = page.getByRole('button', { name: 'Menu of the space' });
  await menu.click();
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Old trips');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  for (const tab of [page, other.page]) await tab.getByRole('heading', { name: 'Old trips' }).waitFor();

  await menu.click();
  await page.getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  for (const tab of [page, other.page]) {
    await tab.getByText('This space is archived.').waitFor();
    expect(await tab.getByRole('textbox', { name: /^Write to/ }).count()).toBe(0);
  }
  await other.page.getByText('A person with the right to write can unarchive it.').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);

  // The call that waits is in the inbox, and its answer counts.
  await page.goto(`${gateway.url}/inbox`);
  await page.getByRole('list', { name: 'waiting calls' }).getByText('confirm_booking').click();
  await calm(page);
  await clickStill(page.getByRole('region', { name: /^confirm_booking/ }).getByRole('button', { name: 'Yes' }));
  await other.page.getByRole('region', { name: /^confirm_booking, done/ }).waitFor();

  await page.goto(`${gateway.url}/spaces`);
  await page.getByRole('link', { name: 'Archived' }).waitFor();
  expect(await page.getByRole('link', { name: /Old trips/ }).count()).toBe(0);
  await waitFor(async () => (await gateway.api('/api/search?q=tokyo&kind=message')).items.length > 0);
  await page.goto(`${gateway.url}/search?q=tokyo&kind=message`);
  await page.getByText('Old trips').first().waitFor();

  await page.goto(`${gateway.url}/spaces`);
  await page.getByRole('link', { name: 'Archived' }).click();
  await page.waitForURL(/show=archived/);
  await page.getByRole('link', { name: /Old trips/ }).click();
  await page.getByRole('button', { name: 'Unarchive' }).click();
  for (const tab of [page, other.page]) await tab.getByRole('textbox', { name: 'Write to Old trips' }).waitFor();
  const { items } = await gateway.api('/api/audit');
  const changes = items.filter(({ action }: { action: string }) => action.startsWith('patch'));
  expect(changes.map(({ subject }: { subject: object }) => subject)).toEqual(Array(3).fill({ kind: 'space', id }));
  expect([...problems, ...other.problems]).toEqual([]);
});
