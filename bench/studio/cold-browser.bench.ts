/// <reference lib="dom" />
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { type Page, chromium as playwright } from 'playwright-core';
import { chromePath } from '../../packages/studio/test/support/chrome-path.ts';
import { percentile } from '../gateway/percentiles.ts';
import { heldAtMost } from '../held.ts';
import { type Report, toMarkdown } from '../report.ts';
import { firstSeenMs, watchFirstSeen } from './first-seen.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 20);
const MESSAGES = 200;
const MOST_MS = 1_500;
const MOST_KB = 190;

/** How long it takes with an empty cache until a person can read the page. */
export async function benchStudioColdBrowser(): Promise<Report> {
  await using gateway = await startTestGateway({
    spaces: [{ name: 'Desk', people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const person = await fill(gateway);
  const rounds = { link: [] as Opened[], session: [] as Opened[] };
  for (let round = 0; round < ROUNDS; round++) {
    rounds.link.push(await openByLink(gateway, person));
    rounds.session.push(await openSignedIn(gateway, person));
  }
  const seen = (opened: readonly Opened[]): number[] => opened.map(({ seenMs }) => seenMs);
  const [{ sentKb, unpackedKb, files }] = rounds.link as [Opened, ...Opened[]];
  const row = (what: string, opened: readonly Opened[]): (string | number)[] => [
    what,
    percentile(seen(opened), 0.5),
    percentile(seen(opened), 0.95),
  ];
  return {
    title: 'Studio: the first space in a cold browser',
    claim:
      `A new Chromium process with an empty cache opens the studio ${ROUNDS} times; the gateway is already running, on SQLite, and the space has ` +
      `${MESSAGES} messages. Measured in the page, from the navigation to the first frame after a message is visible. Claim: at most ` +
      `${MOST_MS.toLocaleString('en')} ms, and at most ${MOST_KB} KB compressed for the page with all its files, the typeface included.`,
    columns: ['', 'p50, ms', 'p95, ms'],
    rows: [row('by a sign-in link', rounds.link), row('signed in before', rounds.session)],
    findings: [
      heldAtMost('By a sign-in link, p95', percentile(seen(rounds.link), 0.95), MOST_MS, ' ms'),
      heldAtMost('Signed in before, p95', percentile(seen(rounds.session), 0.95), MOST_MS, ' ms'),
      heldAtMost('The first page with its typeface, as sent', sentKb, MOST_KB, ' KB'),
      `It has ${files} files, ${Math.round(unpackedKb)} KB unpacked.`,
    ],
  };
}

interface Opened {
  readonly seenMs: number;
  /** The size of the page, its scripts, styles and typeface: as sent, and unpacked. */
  readonly sentKb: number;
  readonly unpackedKb: number;
  readonly files: number;
}

async function openByLink(gateway: TestGateway, entityId: string): Promise<Opened> {
  const url = await linkFor(gateway, entityId);
  return await inNewBrowser((page) => measure(page, url));
}

/** Signs in with a separate context, so that what it loads is not in the cache of the one that is measured. */
async function openSignedIn(gateway: TestGateway, entityId: string): Promise<Opened> {
  const url = await linkFor(gateway, entityId);
  return await inNewBrowser(async (page) => {
    const other = await page.context().browser()?.newContext();
    const first = await other?.newPage();
    await first?.goto(url);
    await first?.getByRole('log').getByRole('article').first().waitFor();
    await page.context().addCookies((await other?.cookies(`${gateway.url}/api`)) ?? []);
    await other?.close();
    return await measure(page, gateway.url);
  });
}

async function linkFor({ api }: TestGateway, entityId: string): Promise<string> {
  return (await api('/api/links', { entityId, scopes: ['admin'] })).url;
}

async function inNewBrowser<T>(work: (page: Page) => Promise<T>): Promise<T> {
  const browser = await playwright.launch({
    executablePath: await chromePath(),
    args: ['--no-sandbox', '--headless=shell'],
  });
  try {
    return await work(await (await browser.newContext({ viewport: { width: 1_200, height: 800 } })).newPage());
  } finally {
    await browser.close();
  }
}

async function measure(page: Page, url: string): Promise<Opened> {
  await watchFirstSeen(page, { selector: '[role="log"] article' });
  await page.goto(url, { waitUntil: 'commit' });
  const seenMs = await firstSeenMs(page);
  const sizes = await page.evaluate(() => {
    const files = performance
      .getEntries()
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .filter(({ name }) => !new URL(name).pathname.startsWith('/api/'));
    const sum = (of: 'encodedBodySize' | 'decodedBodySize'): number =>
      files.reduce((total, file) => total + file[of], 0) / 1_024;
    return { sentKb: sum('encodedBodySize'), unpackedKb: sum('decodedBodySize'), files: files.length };
  });
  return { seenMs, ...sizes };
}

async function fill({ api }: TestGateway): Promise<string> {
  const [{ id: spaceId }] = (await api('/api/spaces')).items;
  const [{ id: entityId }] = (await api('/api/entities?externalId=ada')).items;
  for (let number = 1; number <= MESSAGES; number++)
    await api(`/api/spaces/${spaceId}/messages`, { entityId, text: `Message ${number}, with **some** words.` });
  return entityId;
}

if (import.meta.main) console.log(toMarkdown(await benchStudioColdBrowser()));
