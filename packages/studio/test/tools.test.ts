import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tool } from '@lastcall/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { useBrowser } from './support/browser.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let rates: Server;
const booked: unknown[] = [];

beforeAll(async () => {
  rates = createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"rate":162.5}'));
  await new Promise<void>((listening) => rates.listen(0, '127.0.0.1', listening));
  studio = await startStudio(browser(), {
    egress: { allow: [`127.0.0.1:${(rates.address() as AddressInfo).port}`] },
    agents: [{ name: 'Concierge', instructions: 'Help.', tools: ['book_hotel'] }],
    tools: {
      book_hotel: tool({
        description: 'Books a hotel room.',
        inputSchema: z.object({
          city: z.string().min(1).max(100),
          nights: z.int().min(1).max(30),
          guests: z.array(z.object({ name: z.string(), age: z.number().optional() })).optional(),
          room: z.enum(['single', 'double']).optional(),
        }),
        execute: (input) => {
          booked.push(input);
          if (input.city === 'Atlantis') throw new Error('There is no hotel in Atlantis.');
          return { reference: '2D3710F1' };
        },
      }),
      pay: tool({
        description: 'Pays an invoice.',
        inputSchema: z.object({ sum: z.number() }),
        approval: true,
        execute: ({ sum }) => `paid ${sum}`,
      }),
    },
    spaces: [{ name: 'Desk', agents: ['Concierge'], people: [{ name: 'Ada' }] }],
  });
});
afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  await new Promise((closed) => rates.close(closed));
});

test('[S7] a tool is found in the registry and tried with a form made of its input schema', async () => {
  const { page, problems } = await studio.open('/tools');
  await page.getByRole('searchbox', { name: 'Filter the tools' }).fill('hotel');
  await page.waitForURL('**/tools?q=hotel');
  const row = page.getByRole('list', { name: 'Tools' }).getByRole('listitem');
  await row.getByRole('link', { name: 'Concierge' }).waitFor();
  expect(await row.first().textContent()).toContain('acts outside');
  await page.getByRole('link', { name: 'book_hotel' }).click();
  await page.getByText('This really acts.').waitFor();
  await page.getByText('whole number, 1 to 30').waitFor();

  const run = page.getByRole('button', { name: 'Run once' });
  await page.getByLabel('Nights').fill('thirty');
  await run.click();
  await page.getByText('Fill this in.').waitFor();
  await page.getByText('Write a whole number, e.g. 3.').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest('div')?.textContent)).toContain('City');
  await page.getByLabel('City').fill('Tokyo');
  await page.getByLabel('Nights').fill('31');
  await run.click();
  await page.getByText('Expected at most 30').waitFor();
  expect(booked).toEqual([]);

  await page.getByLabel('Nights').fill('1');
  await page.getByRole('button', { name: 'Add guests' }).click();
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Room').selectOption('double');
  await run.click();
  const result = page.getByRole('status').filter({ hasText: '2D3710F1' });
  await result.getByText('ok').waitFor();
  await result.getByText(/^\d+ ms$/).waitFor();
  expect(booked).toEqual([{ city: 'Tokyo', nights: 1, guests: [{ name: 'Ada' }], room: 'double' }]);

  await page.getByRole('button', { name: 'Write it as JSON' }).click();
  await page.getByRole('textbox', { name: 'JSON' }).fill('{ "city": "Atlantis", "nights": 2 }');
  await run.click();
  await page.getByText('There is no hotel in Atlantis.').waitFor();
  await page.getByRole('button', { name: 'Back to the fields' }).click();
  await expect.poll(() => page.getByLabel('Nights').inputValue()).toBe('2');
  expect(problems).toEqual([]);
});

test('[S7] a tool that needs approval says so, and runs once the person approves', async () => {
  const { page, problems } = await studio.open('/tools/pay?try=%7B%22sum%22%3A12.5%7D');
  await expect.poll(() => page.getByLabel('Sum').inputValue()).toBe('12.5');
  await page.getByRole('button', { name: 'Run once' }).click();
  await page.getByText('It was not run: it needs approval.').waitFor();
  await page.getByRole('checkbox', { name: /I approve this call/ }).check();
  await page.getByRole('button', { name: 'Run once' }).click();
  await page.getByText('paid 12.5').waitFor();
  expect(problems).toEqual([]);
});

test('[S7] an HTTP tool is pasted, refused with its places, tried, changed and deleted', async () => {
  const { page, problems } = await studio.open('/tools');
  await page.getByRole('button', { name: 'New tool' }).click();
  const form = page.getByRole('dialog', { name: 'New tool' });
  const config = JSON.parse(await form.getByLabel('Configuration').inputValue());
  await form.getByLabel('Configuration').fill(JSON.stringify({ ...config, name: 'no good' }));
  await form.getByRole('button', { name: 'Create tool' }).click();
  await form.getByRole('alert').getByText('name').first().waitFor();
  const url = `http://127.0.0.1:${(rates.address() as AddressInfo).port}/rates?from={{input.from}}`;
  await form.getByLabel('Configuration').fill(JSON.stringify({ ...config, execution: { url, method: 'GET' } }));
  await form.getByRole('button', { name: 'Create tool' }).click();
  await page.getByRole('heading', { name: 'exchange_rate' }).waitFor();

  await page.getByLabel('From').fill('EUR');
  await page.getByLabel('To', { exact: true }).fill('JPY');
  await page.getByRole('button', { name: 'Run once' }).click();
  await page.getByText('162.5').waitFor();

  await page.getByRole('button', { name: 'Edit' }).click();
  const editor = page.getByRole('dialog', { name: 'Edit exchange_rate' });
  const stored = JSON.parse(await editor.getByLabel('Configuration').inputValue());
  await editor.getByLabel('Configuration').fill(JSON.stringify({ ...stored, description: 'Rates of today.' }));
  await editor.getByRole('button', { name: 'Save tool' }).click();
  await page.getByText('Rates of today.', { exact: true }).waitFor();
  await page.getByText('registry, version 2').waitFor();

  await page.getByRole('button', { name: 'Delete the tool' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete exchange_rate?' });
  await dialog.getByRole('textbox').fill('exchange_rate');
  await dialog.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByRole('heading', { name: 'Tools' }).waitFor();
  expect((await studio.gateway.api('/api/tools?source=api')).items).toEqual([]);
  expect(problems.filter((one) => !one.includes('422'))).toEqual([]);
});

test('[S7] actions that the scopes of a session do not allow are named, and their buttons are not shown', async () => {
  const reader = await studio.open('/tools/pay', { scopes: ['read'] });
  await reader.page.getByText('To try a tool, you need the scope admin.').waitFor();
  expect(await reader.page.getByRole('button', { name: 'Run once' }).count()).toBe(0);
  await reader.page.getByRole('link', { name: 'Settings' }).click();
  await reader.page.getByRole('link', { name: 'Keys' }).click();
  await reader.page.getByText('You may not see or create keys here.').waitFor();
  const person = await studio.open('/agents', { scopes: [] });
  await person.page.getByText('You may not see the agents here.').waitFor();
  expect(await person.page.getByRole('button', { name: 'New agent' }).count()).toBe(0);
  expect([...reader.problems, ...person.problems]).toEqual([]);
});
