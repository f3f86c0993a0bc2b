import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { startStudio } from '../support/studio.ts';

const browser = useBrowser();

test('[S8] failures are shown as text: an agent whose model fails, a space that one has left or that does not exist; a draft survives a reload', async () => {
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
  await page.getByText('Nothing is waiting for you.').waitFor();
  await page.reload();
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe('Not yet\nsent.');

  // A person who is no longer a member cannot write here, and sees why.
  const [{ id: spaceId }] = (await studio.gateway.api('/api/spaces')).items;
  await studio.gateway.api(`/api/spaces/${spaceId}/members?entityId=${await studio.person('Ada')}`, undefined, {
    method: 'DELETE',
  });
  await page.getByText('You are not a member of this space').waitFor();
  await page.goto(`${studio.gateway.url}/spaces/nowhere`);
  await page.getByRole('alert').getByText('The space cannot be opened.').waitFor();
  expect(problems.filter((one) => !one.includes('404'))).toEqual([]);
});

test('[S23] a failure is shown with its cause, also after a reload; operators see the error and can retry, others cannot', async () => {
  let isBroken = true;
  const model = scriptedModel((request) => {
    if (isBroken)
      return Object.assign(new Error('key sk-1 of host 10.0.0.7'), { name: 'AI_APICallError', statusCode: 401 });
    const text = JSON.stringify(request.prompt);
    const spaceId = /Space (\d+) \(/.exec(text)?.[1] ?? '';
    if (!text.includes('"enter_space"')) return { toolName: 'enter_space', input: { spaceId } };
    return text.includes('"send_message"') ? 'Done.' : { toolName: 'send_message', input: { text: 'Here I am.' } };
  });
  await using studio = await startStudio(browser(), {
    model,
    agents: [{ name: 'Clerk', instructions: 'Answer.' }],
    spaces: [
      {
        name: 'Desk',
        agents: ['Clerk'],
        people: ['Ada', 'Ben'].map((name) => ({ name, externalId: name.toLowerCase() })),
      },
    ],
  });
  const { page, problems } = await studio.open('/');
  const { page: ben, problems: bensProblems } = await studio.open('/', { as: 'Ben', scopes: [] });
  const field = page.getByRole('textbox', { name: /^Write to/ });
  await field.fill('Hello?');
  await field.press('Enter');
  const told =
    'The agent cannot work as it is set up: the provider of its model has no valid key. It does not try again by itself.';
  for (const one of [page, ben]) {
    await one.getByRole('alert').getByText(told).waitFor();
    await one.reload();
    await one.getByRole('alert').getByText(told).waitFor();
  }
  const failure = page.getByRole('alert');
  await failure.getByText('of host 10.0.0.7').waitFor();
  await failure.getByRole('link', { name: 'run' }).waitFor();
  expect(await ben.getByText('10.0.0.7').count()).toBe(0);
  expect(await ben.getByRole('alert').getByRole('button').count()).toBe(0);
  expect(await accessibilityProblems(page)).toEqual([]);

  isBroken = false;
  await failure.getByRole('button', { name: 'Try again' }).click();
  for (const one of [page, ben]) {
    await one.getByRole('log').getByText('Here I am.').waitFor();
    await one.getByRole('alert').waitFor({ state: 'detached' });
    await one.reload();
    await one.getByRole('log').getByText('Here I am.').waitFor();
    expect(await one.getByRole('alert').count()).toBe(0);
  }
  expect([...problems, ...bensProblems]).toEqual([]);
});
