import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S2] [S4] in a space with more than two hundred members, each has a name, can write, and can answer in the inbox', async () => {
  const ask = {
    executionType: 'space',
    description: 'Asks.',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
    resultSchema: { type: 'boolean' },
  } as const;
  await using studio = await startStudio(browser(), {
    model: scriptedModel([[{ toolName: 'ask', input: { question: 'Shall we?' } }], 'Thank you.']),
    tools: { ask },
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: ['ask'] }],
    spaces: [
      {
        name: 'Hall',
        agents: ['Clerk'],
        people: Array.from({ length: 205 }, (_, index) => ({ name: `Person ${index}` })),
      },
    ],
  });
  const { api, url } = studio.gateway;
  const [{ id }] = (await api('/api/spaces')).items;
  const { next } = await api(`/api/spaces/${id}/members?limit=200`);
  const last = (await api(`/api/spaces/${id}/members?limit=200&cursor=${encodeURIComponent(next)}`)).items.at(-1);
  const link = await api('/api/links', { entityId: last.entityId, scopes: [] });
  const page = await (await browser().newContext()).newPage();
  await page.goto(link.url);
  await page.getByRole('textbox', { name: 'Write to Hall' }).fill('Hello.');
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: last.displayName }).getByText('Hello.').waitFor();
  await page.goto(`${url}/inbox`);
  await page.getByRole('button', { name: 'Yes' }).waitFor();
  expect(await page.getByText('former member').count()).toBe(0);
});
