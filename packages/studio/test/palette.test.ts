import { expect, test } from 'vitest';
import { accessibilityProblems } from './support/accessibility.ts';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('[S8] the palette finds every page and every part of the settings', async () => {
  await using studio = await startStudio(browser());
  const { page } = await studio.open('/inbox');
  await page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: /^Search pages/ });
  const selected = page.getByRole('listbox').getByRole('option', { selected: true });
  const places = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const names = (await places.allTextContents()).map((text) => text.replace(/\d.*$/, ''));
  expect(names).toContain('Home');
  for (const word of [...names, 'notif', 'erasures', 'settings: you']) {
    await field.fill(word);
    await expect.poll(async () => (await selected.textContent())?.toLowerCase()).toContain(word.toLowerCase());
    expect(await selected.textContent()).toContain('Page');
  }
});

test('[S8] the palette opens pages, agents and runs, and runs commands, with the keyboard alone', async () => {
  await using studio = await startStudio(browser());
  const { page, problems } = await studio.open('/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  const field = page.getByRole('combobox', { name: /^Search pages/ });
  const selected = page.getByRole('listbox').getByRole('option', { selected: true });

  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: /^fetch_weather/ }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.type('con');
  await expect.poll(() => selected.textContent()).toContain('Concierge');
  expect(await field.getAttribute('aria-activedescendant')).toBe(await selected.getAttribute('id'));
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => selected.textContent()).toContain('confirm_booking');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Concierge' }).waitFor();

  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.type('pause concierge');
  await expect.poll(() => selected.textContent()).toContain('Pause Concierge');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Pause Concierge?' });
  await dialog.getByRole('button', { name: 'Pause', exact: true }).press('Enter');
  await page.getByText('Paused: events wait').waitFor();

  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.type('theme dark');
  await expect.poll(() => selected.textContent()).toContain('dark');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');

  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.type('no such thing');
  await expect.poll(() => selected.textContent()).toContain('Search all texts for “no such thing”');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search?q=no+such+thing');
  await page.getByText('Nothing was found.').waitFor();

  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.type('01a1e1ac-8de8-73a1-847f-b44284f7c840');
  await expect.poll(() => selected.textContent()).toContain('Run');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/runs/01a1e1ac-8de8-73a1-847f-b44284f7c840');
  expect(problems.filter((one) => !one.includes('404'))).toEqual([]);

  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.type('sign out');
  await expect.poll(() => selected.textContent()).toContain('Sign out');
  await page.keyboard.press('Enter');
  await page.getByText('You are signed out.').waitFor();
  // Requests that were active at the sign-out are refused.
  expect(problems.filter((one) => !/40[14]/.test(one))).toEqual([]);
});
