import { expect, test } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();

test('shots', async () => {
  await using studio = await startStudio(browser());
  const { page, problems } = await studio.open('/agents');
  const shot = async (path: string, name: string) => {
    await page.goto(studio.gateway.url + path);
    await page.waitForLoadState('networkidle').catch(() => {});
    await page.screenshot({ path: `/tmp/shots/${name}.png` });
  };
  await page.getByRole('heading', { name: 'Agents' }).waitFor();
  const {
    items: [agent],
  } = await studio.gateway.api('/api/agents');
  const {
    items: [space],
  } = await studio.gateway.api('/api/spaces');
  void space;
  await shot('/agents', 'agents');
  await shot(`/agents/${agent.id}`, 'agent');
  await shot(`/agents/${agent.id}?tab=config`, 'agent-config');
  await shot(`/agents/${agent.id}?tab=inbox`, 'agent-inbox');
  await shot(`/agents/${agent.id}?tab=mind`, 'agent-mind');
  await shot(`/agents/${agent.id}?tab=plans`, 'agent-plans');
  await shot('/tools', 'tools');
  await shot('/tools/book_hotel', 'tool');
  await shot('/settings', 'settings');
  await shot('/settings?tab=gateway', 'settings-gateway');
  await shot('/settings?tab=keys', 'settings-keys');
  await shot('/settings?tab=people', 'settings-people');
  await shot('/settings?tab=sessions', 'settings-sessions');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('con');
  await page.screenshot({ path: '/tmp/shots/palette.png' });
  expect(problems).toEqual([]);
});
