// temporary
import { mkdirSync } from 'node:fs';
import { demoConfig } from '@lastcall/gateway/internal';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { chromium as playwright } from 'playwright-core';
import { chromePath } from './support/chrome-path.ts';

const out = process.argv[2]!;
const only = process.argv[3]?.split(',');
mkdirSync(out, { recursive: true });
const gateway = await startTestGateway(demoConfig());
const { api } = gateway;
const spaces = (await api('/api/spaces')).items as any[];
const people = (await api('/api/entities?kind=human')).items as any[];
const idOf = (name: string) => spaces.find((one) => one.name === name)?.id;
const entityId = people.find((one) => one.displayName === 'Ada')?.id;
const ended = async () =>
  ((await api('/api/runs')).items as any[]).filter(({ endedAt }) => endedAt !== undefined).length;
const say = async (space: string, text: string) => {
  const before = await ended();
  await api(`/api/spaces/${idOf(space)}/messages`, { entityId, text });
  await waitFor(async () => (await ended()) > before || undefined, { timeoutMs: 60_000 });
};
await say('Travel desk', 'What is the weather in Tokyo?');
await say('Travel desk', 'Book a hotel in Tokyo for 3 nights, please.');
await say('Accounts', 'Import the receipts of October.');
await say('Accounts', 'Pay invoice 4711, amount 120.');
await say('Accounts', 'Pay invoice 4712, amount 90.');
await say('Accounts', 'Pay invoice 4713, amount 75.');
await say('Research', 'Report on the weather in Tokyo.');
const runs = (await api('/api/runs')).items as any[];
const failed = runs.find(({ counts }) => counts.error > 0);
const report = runs.find(({ agentId }) => agentId !== failed.agentId) ?? runs[0];
const { id } = await api('/api/evaluations', { name: 'Reports on cities' });
const cases = [
  'Report on the weather in Tokyo.',
  'Report on Oslo.',
  'Report on hotel prices.',
  'Report on Lima, in one line.',
  'Report on trains to Rome.',
  'Report on nothing.',
];
const sample = (at: number, value: number, version: number) => ({
  case: cases[at],
  sample: 1,
  scores: {
    complete: { value, reason: value === 1 ? undefined : 'It names no temperature.' },
    short: { value: at % 3 === version ? 0 : 1 },
  },
  response: `Answer ${at}.`,
  ms: 812 + at * 130,
  tokens: 400 + 31 * at,
  runId: report.id,
});
await api(`/api/evaluations/${id}/reports`, { version: 'v1', samples: cases.map((_, at) => sample(at, at % 2, 1)) });
await api(`/api/evaluations/${id}/reports`, {
  version: 'v2, shorter',
  samples: cases.map((_, at) =>
    at === 5
      ? { case: cases[5], sample: 1, scores: {}, error: 'The model is down.', ms: 4, runId: report.id }
      : sample(at, at === 2 ? 0 : 1, 2),
  ),
});
const agents = (await api('/api/agents')).items as any[];
const clerk = agents.find(({ name }) => name === 'Clerk');
const pages: Record<string, string> = {
  space: `/spaces/${idOf('Travel desk')}`,
  accounts: `/spaces/${idOf('Accounts')}`,
  run: `/runs/${failed.id}`,
  report: `/runs/${report.id}`,
  home: '/',
  agent: `/agents/${clerk.id}`,
  config: `/agents/${clerk.id}?tab=config`,
  inbox: '/inbox',
  evaluation: `/evaluations/${id}`,
  evaluations: '/evaluations',
  runs: '/runs',
  agents: '/agents',
  tools: '/tools',
  tool: '/tools/pay_invoice',
  spaces: '/spaces',
  usage: '/usage',
  settings: '/settings',
  search: '/search?q=Tokyo',
};
const browser = await playwright.launch({
  executablePath: await chromePath(),
  args: ['--no-sandbox', '--headless=shell'],
});
for (const theme of ['light', 'dark'] as const)
  for (const width of [1280, 380]) {
    const context = await browser.newContext({
      viewport: { width, height: width === 380 ? 740 : 800 },
      colorScheme: theme,
    });
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && console.log(message.text()));
    const { url } = await api('/api/links', { entityId, scopes: ['admin', 'write', 'read'] });
    await page.goto(`${gateway.url}/inbox${new URL(url).hash}`);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    for (const [name, path] of Object.entries(pages)) {
      if (only !== undefined && !only.includes(name)) continue;
      await page.goto(gateway.url + path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.waitForTimeout(1_500);
      await page.screenshot({ path: `${out}/${name}-${theme}-${width}.png`, caret: 'hide' });
    }
    await context.close();
  }
await browser.close();
await gateway.stop();
