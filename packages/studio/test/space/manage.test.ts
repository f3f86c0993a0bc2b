import { expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S28] a space is made in the page, and members are added and removed', async () => {
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
