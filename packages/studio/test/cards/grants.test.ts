import { expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { calm, clickStill } from '../support/calm.ts';
import { useStudios } from '../support/studio.ts';
import { askingDesk, cardOf, say } from './desk.ts';

const browser = useBrowser();
const studios = useStudios(browser, askingDesk());

test('[O9] a card allows later calls with the values that are ticked, the next call names the grant, and the agent’s page revokes it', async () => {
  const studio = studios.sqlite();
  const { page, problems } = await studio.open('/');
  const { api } = studio.gateway;
  await say(page, 'Wire money, amount 50, to Oslo.');
  const card = cardOf(page, /^wire_money, waits/);
  await card.getByRole('button', { name: 'Allow more …' }).click();
  const allow = card.getByRole('button', { name: 'Approve and allow' });
  // Nothing is selected yet.
  expect(await allow.getAttribute('aria-disabled')).toBe('true');
  await card.getByRole('radio', { name: 'Always' }).check();
  await card.getByRole('checkbox', { name: /^amount/ }).uncheck();
  expect(await card.getByRole('checkbox', { name: /^to: Oslo/ }).isChecked()).toBe(true);
  expect(await accessibilityProblems(page)).toEqual([]);
  await calm(page);
  await clickStill(allow);
  await cardOf(page, /^wire_money, done/)
    .getByText('Approved, with a grant for later calls')
    .waitFor();
  const [grant] = (await api('/api/grants')).items;
  expect(grant).toMatchObject({ for: 'always', conditions: [{ field: '/to', equals: 'Oslo' }], status: 'active' });

  await say(page, 'Wire money, amount 70, to Oslo.');
  await page.getByText('Allowed by a grant of').waitFor();
  const covered = await api(`/api/grants/${grant.id}`);
  expect(covered.uses).toBe(1);
  await say(page, 'Wire money, amount 70, to Rome.');
  await cardOf(page, /^wire_money, waits/).waitFor();

  await page.goto(`${studio.gateway.url}/agents/${grant.agentId}?tab=grants`);
  const list = page.getByRole('list', { name: 'Allowed now' });
  await list.getByText('only if to is Oslo').waitFor();
  await list.getByText('used once').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await list.getByRole('button', { name: 'Revoke the grant for wire_money' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('list', { name: 'Ended' }).getByText('was revoked').waitFor();
  await page.getByText('No grants.').waitFor();
  expect((await api(`/api/grants/${grant.id}`)).endReason).toBe('revoked');
  expect(problems).toEqual([]);
});

test('[O9] a person without scopes may not allow calls for always', async () => {
  const studio = studios.sqlite();
  const { page } = await studio.open('/', { as: 'Ben', scopes: [] });
  await say(page, 'Wire money, amount 20, to Bonn.');
  const card = cardOf(page, /^wire_money, waits/).filter({ hasText: 'Bonn' });
  await card.getByRole('button', { name: 'Allow more …' }).click();
  await card.getByRole('radio', { name: 'For one hour' }).waitFor();
  expect(await card.getByRole('radio', { name: 'Always' }).count()).toBe(0);
});
