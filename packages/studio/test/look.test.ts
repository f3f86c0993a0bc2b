import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from './support/browser.ts';
import { startStudio } from './support/studio.ts';

const browser = useBrowser();
const FIRST_PAGE_KB = 190;

const edges = async (one: Locator): Promise<readonly [left: number, right: number]> => {
  const { x = 0, width = 0 } = (await one.boundingBox()) ?? {};
  return [Math.round(x), Math.round(x + width)];
};

test('[S2] [S8] a space that is opened during a run shows who is at work and can stop it; its parts are aligned, and a card that settles moves once', async () => {
  const started = Promise.withResolvers<void>();
  const wait = tool({
    description: 'Waits.',
    inputSchema: z.object({}),
    async execute(_input, { abortSignal }) {
      started.resolve();
      const { promise, reject } = Promise.withResolvers<never>();
      abortSignal.addEventListener('abort', () => reject(new Error('It was stopped.')));
      return await promise;
    },
  });
  const model = scriptedModel(() => ({ toolName: 'wait', input: {} }));
  await using studio = await startStudio(browser(), {
    ...{ model, tools: { wait } },
    agents: [{ name: 'Clerk', instructions: 'Wait.', tools: ['wait'], limits: { maxAttempts: 1 } }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
  });
  const { api } = studio.gateway;
  const [{ id }] = (await api('/api/spaces')).items;
  await api(`/api/spaces/${id}/messages`, { entityId: await studio.person('Ada'), text: 'Go.' });
  await started.promise;

  const { page, problems } = await studio.open(`/spaces/${id}`);
  await page.getByText('Clerk is at work').waitFor();
  const card = page.getByRole('region', { name: 'wait, running' });
  await card.waitFor();
  const article = page.getByRole('article').first();
  const [left, right] = await edges(article);
  expect((await edges(page.getByRole('heading', { name: 'Desk' })))[0]).toBe(left);
  expect((await edges(page.getByRole('button', { name: 'Menu of the space' })))[1]).toBe(right);
  expect((await edges(card))[1]).toBe(right);
  const field = page.getByRole('textbox', { name: 'Write to Desk' }).locator('..');
  expect(await edges(field)).toEqual([left, right]);

  await page.getByRole('button', { name: 'Stop Clerk' }).click();
  const settled = page.getByRole('region', { name: /^wait, (?!running)/ });
  await settled.waitFor();
  await page.getByText('is at work').waitFor({ state: 'hidden' });
  const motion = () =>
    settled.evaluate((one) => {
      const { animationName, animationDuration } = getComputedStyle(one);
      return `${animationName} ${animationDuration}`;
    });
  expect(await motion()).toBe('settle 0.2s');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await motion()).toMatch(/^none/);
  expect(problems).toEqual([]);
});

test('[S8] the first page is small, including its typeface, which is loaded without a layout shift', async () => {
  await using studio = await startStudio(browser());
  const { page, problems } = await studio.open('/', { isNew: true });
  await page.getByRole('heading', { name: 'Travel desk' }).waitFor();
  await page.getByRole('button', { name: 'What is the weather in Tokyo?' }).waitFor();
  const { faces, kb } = await page.evaluate(async () => {
    await document.fonts.ready;
    const files = performance.getEntries().filter((one) => one instanceof PerformanceResourceTiming);
    const sent = files.filter(({ name }) => !new URL(name).pathname.startsWith('/api/'));
    return {
      faces: [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family),
      kb: sent.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1_024,
    };
  });
  expect(faces.join()).toContain('Geist');
  expect(kb).toBeGreaterThan(100);
  expect(kb).toBeLessThanOrEqual(FIRST_PAGE_KB);
  expect(problems).toEqual([]);
});
