import { scriptedModel } from '@lastcall/core/testing';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { useBrowser } from './support/browser.ts';
import { goTo } from './support/go-to.ts';
import { type Studio, startStudio } from './support/studio.ts';

const browser = useBrowser();
let studio: Studio;
let acme: Acme;

interface Acme {
  readonly key: string;
  readonly agent: string;
  readonly space: string;
  readonly person: string;
  readonly run: string;
}

beforeAll(async () => {
  studio = await startStudio(browser(), {
    model: scriptedModel(() => 'Paid.'),
    agents: [
      { name: 'Clerk', instructions: 'Pay.' },
      { name: 'Spy', instructions: 'Look.' },
    ],
    spaces: [
      { name: 'Office', agents: ['Clerk'], people: [{ name: 'Ada' }] },
      { name: 'Cellar', agents: ['Spy'], people: [{ name: 'Mole' }] },
    ],
    projects: [{ id: 'acme', agents: ['Clerk'], spaces: ['Office'] }],
  });
  const { api } = studio.gateway;
  const { key } = await api('/api/keys', { name: 'Acme', scopes: ['admin'], project: 'acme' });
  const [agent, space] = await Promise.all(
    ['/api/agents', '/api/spaces'].map(async (path) => (await api(path, undefined, { key })).items[0].id),
  );
  const person = await studio.person('Ada');
  await api(`/api/spaces/${space}/messages`, { text: 'Pay the invoice.', entityId: person }, { key });
  const runs = async () => (await api('/api/runs', undefined, { key })).items;
  await vi.waitUntil(async () => (await runs()).length > 0, { timeout: 20_000, interval: 100 });
  acme = { key, agent, space, person: person ?? '', run: (await runs())[0].id };
});
afterAll(async () => await studio[Symbol.asyncDispose]());

/** A browser that is not signed in, with its refused requests and errors. */
interface Visitor {
  readonly page: Page;
  readonly problems: string[];
  /** The open requests of its page, without streams, which stay open. */
  readonly asked: ReadonlySet<Request>;
}

async function visitor(): Promise<Visitor> {
  const context = await browser().newContext({ viewport: { width: 1_200, height: 800 } });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => void problems.push(error.message));
  page.on('response', (response) => {
    // A browser asks for its session before it has one.
    if (response.status() === 401 && response.url().endsWith('/api/session')) return;
    if (response.status() >= 400)
      problems.push(`${response.request().method()} ${response.url()} ${response.status()}`);
  });
  const asked = new Set<Request>();
  page.on('request', (request) => {
    if (request.headers().accept?.includes('text/event-stream') !== true) asked.add(request);
  });
  for (const ended of ['requestfinished', 'requestfailed'] as const)
    page.on(ended as 'requestfinished', (request) => void asked.delete(request));
  return { page, problems, asked };
}

async function signInWith(key: string): Promise<Visitor> {
  const opened = await visitor();
  await opened.page.goto(studio.gateway.url);
  await opened.page.getByLabel('Secret key').fill(key);
  await opened.page.getByRole('button', { name: 'Sign in' }).click();
  await opened.page.getByRole('button', { name: 'Sign in' }).waitFor({ state: 'hidden' });
  return opened;
}

/** Opens each page, and returns the text of all of them. */
async function visit({ page, asked }: Visitor, paths: readonly string[]): Promise<string> {
  let text = '';
  if (!page.url().startsWith(studio.gateway.url)) await page.goto(studio.gateway.url);
  for (const path of paths) {
    await goTo(page, path);
    await page.getByRole('main').waitFor();
    await vi.waitUntil(() => isDrawn(page, asked), { timeout: 30_000, interval: 20 });
    const shown = (await page.locator('body').textContent()) ?? '';
    expect(shown, path).not.toMatch(/This needs|not allowed|may not use|limited to certain|Something went wrong/i);
    text += shown;
  }
  return text;
}

/** True if all requests of the page have ended, and two frames were drawn without new requests. */
async function isDrawn(page: Page, asked: ReadonlySet<Request>): Promise<boolean> {
  for (let frame = 0; frame < 2; frame++) {
    if (asked.size > 0) return false;
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
  }
  return asked.size === 0;
}

const pages = ({ space, run, agent }: Acme): readonly string[] => [
  '/',
  '/spaces',
  `/spaces/${space}`,
  '/inbox',
  '/runs',
  `/runs/${run}`,
  '/agents',
  `/agents/${agent}`,
  `/agents/${agent}?tab=config`,
  '/tools',
  '/usage',
  '/settings',
];
const tabs = ['gateway', 'keys', 'people', 'sessions', 'mcp'].map((tab) => `/settings?tab=${tab}`);

test('[O1] the studio shows a key its own project and nothing of others, and no request is refused', async () => {
  const visiting = await signInWith(acme.key);
  const { page, problems } = visiting;
  await page.goto(`${studio.gateway.url}/spaces/${acme.space}`);
  await page.getByRole('log', { name: 'Messages' }).getByText('Pay the invoice.', { exact: true }).waitFor();
  await page.goto(`${studio.gateway.url}/agents`);
  await page.getByRole('main').getByText('Clerk', { exact: true }).first().waitFor();
  const text = await visit(visiting, [...pages(acme), ...tabs]);
  expect(text).not.toMatch(/Spy|Cellar|Mole/);
  expect(problems).toEqual([]);
});

test('[O1] a person of a project who opens a link reads and writes in its space', async () => {
  const { url } = await studio.gateway.api('/api/links', { entityId: acme.person }, { key: acme.key });
  const visiting = await visitor();
  const { page, problems } = visiting;
  await page.goto(url);
  await page.getByText('Pay the invoice.', { exact: true }).first().waitFor();
  await page.getByRole('textbox', { name: /^Write to/ }).fill('Thank you.');
  await page.keyboard.press('Enter');
  // The text stays in its field until it is stored.
  await page.getByRole('log', { name: 'Messages' }).getByText('Thank you.', { exact: true }).waitFor();
  const text = await visit(visiting, ['/', '/spaces', '/inbox', '/settings']);
  expect(text).not.toMatch(/Spy|Cellar|Mole/);
  expect(problems).toEqual([]);
});

test('[O2] the studio works with a key for certain agents and spaces that may only read', async () => {
  const limits = { agents: [acme.agent], spaces: [acme.space] };
  const body = { name: 'narrow', scopes: ['read'], project: 'acme', ...limits };
  const { key } = await studio.gateway.api('/api/keys', body);
  const visiting = await signInWith(key);
  const { problems } = visiting;
  const text = await visit(visiting, pages(acme));
  expect(text).not.toMatch(/Spy|Cellar|Mole/);
  expect(problems).toEqual([]);
});

test('[O1] an operator selects a project, and all pages show only that one; a deleted project is unselected', async () => {
  const visiting = await signInWith(studio.gateway.secretKey);
  const { page, problems } = visiting;
  await page.goto(studio.gateway.url);
  const picker = page.getByRole('combobox', { name: 'Project' });
  await picker.selectOption('acme');
  await page.waitForURL((url) => url.pathname !== '/settings');
  await page.getByRole('combobox', { name: 'Project' }).waitFor();
  const text = await visit(visiting, [...pages(acme), ...tabs]);
  expect(await picker.inputValue()).toBe('acme');
  expect(text).not.toMatch(/Spy|Cellar|Mole/);
  await page.goto(`${studio.gateway.url}/agents`);
  await picker.selectOption('');
  await page.waitForURL((url) => url.pathname !== '/agents');
  await page.goto(`${studio.gateway.url}/agents`);
  await page.getByRole('main').getByText('Spy', { exact: true }).first().waitFor();
  expect(problems).toEqual([]);

  await page.evaluate(() => sessionStorage.setItem('lastcall.project', 'gone'));
  await page.goto(`${studio.gateway.url}/agents`);
  await page.waitForFunction(() => sessionStorage.getItem('lastcall.project') === null);
  await page.getByRole('combobox', { name: 'Project' }).waitFor();
});

test('[O1] a link to something of another project than the selected one says so, and opens it in all projects', async () => {
  const { items } = await studio.gateway.api('/api/agents');
  const spy = items.find(({ name }: { name: string }) => name === 'Spy');
  const { page } = await studio.open('/settings');
  await page.getByRole('combobox', { name: 'Project' }).selectOption('acme');
  await page.waitForURL((url) => url.pathname !== '/settings');
  await page.goto(`${studio.gateway.url}/agents/${spy.id}`);
  await page.getByRole('alert').getByRole('button', { name: 'Look in all projects' }).click();
  await page.getByRole('heading', { name: 'Spy' }).waitFor();
});

test('[O1] the last of more than a hundred projects can be selected', async () => {
  await using many = await startStudio(browser());
  for (let index = 0; index < 102; index++) await many.gateway.api('/api/projects', { name: `Customer ${index}` });
  const { page, problems } = await many.open('/inbox');
  const picker = page.getByRole('combobox', { name: 'Project' });
  await picker.selectOption('Customer 101');
  await page.waitForURL((url) => url.pathname !== '/inbox');
  await picker.locator('option:checked', { hasText: 'Customer 101' }).waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Agents' }).click();
  await page.getByText('No agent yet.').waitFor();
  expect(problems).toEqual([]);
});
