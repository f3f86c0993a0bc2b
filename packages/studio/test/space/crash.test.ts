import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@lastcall/client';
import { expect, test } from 'vitest';
import { GatewayProcess } from '../../../gateway/test/processes/gateway-process.ts';
import { useBrowser } from '../support/browser.ts';
import { calm } from '../support/calm.ts';
import { heldDemo } from './held-demo.ts';

const browser = useBrowser();
const KEY = 'a-key-for-the-tests-of-the-studio';

test('[S19] after a crash of the demo inside a payment the page comes back, the payment was made once, and its run shows the hand-over', async () => {
  const home = await mkdtemp(join(tmpdir(), 'lastcall-studio-'));
  const { env: held, letGo } = heldDemo(home);
  const env = { PORT: '0', LASTCALL_HOME: join(home, 'home'), LASTCALL_SECRET_KEY: KEY, ...held };
  const gateway = await GatewayProcess.start({ name: 'studio', folder: home, env });
  const { url } = gateway;
  // High enough for all messages, because invisible ones are not in the page.
  const context = await browser().newContext({ viewport: { width: 1_200, height: 3_000 } });
  context.setDefaultTimeout(60_000);
  try {
    const admin = createClient({ url, auth: { key: KEY } });
    const accounts = (await admin.spaces.list()).items.find(({ name }) => name === 'Accounts')?.id ?? '';
    const { gatewayId: before } = await admin.status.get();
    await expect.poll(() => gateway.printed.out).toMatch(/#in=/);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => void problems.push(error.message));
    await page.goto(`${url}/spaces/${accounts}${/#in=[\w-]+/.exec(gateway.printed.out)?.[0]}`);
    await page.getByText('press Ctrl K and type "crash"').waitFor();
    const settings = await context.newPage();
    await settings.goto(`${url}/settings?tab=gateway`);
    await settings.getByText('Kills the process with SIGKILL.').waitFor();
    const log = page.getByRole('log', { name: 'Messages' });
    const tour = page.getByRole('navigation', { name: 'Tour of the demo' });
    await tour.getByRole('button', { name: 'Ask for a payment' }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await calm(page);
    // They are visible for a few seconds, so the wait starts now to miss none.
    const offline = page.getByText(/^offline since .*, reconnecting$/).waitFor();
    const back = page.getByText('back, nothing was missed').waitFor();
    await tour.getByRole('button', { name: 'Approve it and crash' }).click();
    await offline;
    await letGo();
    await back;
    const paid = log.getByText('"paid": "120 EUR"');
    await paid.waitFor();
    // The bank was asked by both processes, with one key.
    await log.getByText('"bank": "Paid once: asked 2 times with one key, 1 entry in its book."').waitFor();
    // Asks the gateway whether the runs have ended, because the page may not know yet that one continues.
    const unfinished = async () => (await admin.runs.list()).items.filter(({ status }) => status !== 'completed');
    await expect.poll(unfinished).toEqual([]);
    const { items } = await admin.spaces.messages(accounts, { limit: 200 });
    const shown = () =>
      log.getByRole('article').evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset.seq)));
    await expect.poll(shown).toEqual(items.map(({ seq }) => seq));
    await expect.poll(() => page.getByText('is at work').count()).toBe(0);
    expect(await paid.count()).toBe(1);

    // Another process at the same address, while the program that was started still runs.
    expect((await admin.status.get()).gatewayId).not.toBe(before);
    expect(gateway.isRunning).toBe(true);
    const runs = await Promise.all((await admin.runs.list()).items.map(({ id }) => admin.runs.get(id)));
    const taken = runs.filter(({ takeovers = [] }) => takeovers.length > 0);
    expect(taken).toHaveLength(1);
    const { callId = '' } = items.find(({ kind }) => kind === 'tool') ?? {};
    const entries = (await admin.runs.transcript(taken[0]?.id ?? '')).items;
    const ofPayment = entries.filter(({ kind, entry }) => kind !== 'message' && JSON.stringify(entry).includes(callId));
    expect(ofPayment.map(({ kind }) => kind)).toEqual(['started', 'started', 'settled']);

    await page.goto(`${url}/runs/${taken[0]?.id}`);
    await page.getByText(/silent .* took over, 1 call repeated/).waitFor();
    await tour.getByRole('button', { name: 'What if it snowed?' }).click();
    await page.getByRole('heading', { name: 'Compare “Ada: What is the weather in Tokyo?” with its fork' }).waitFor();
    await page.getByText('forecast snowy').first().waitFor();
    await tour.getByRole('button', { name: 'A picture' }).click();
    await page.getByRole('log').getByRole('img').first().waitFor();
    expect(await page.getByRole('log').getByText('This is a rehearsal').count()).toBe(1);
    // The palette can crash it too.
    await page.goto(`${url}/spaces/${accounts}`);
    await paid.waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('crash');
    await page.getByRole('option', { name: /^Crash the gateway Kills it with SIGKILL/ }).waitFor();
    const offlineAgain = page.getByText(/^offline since .*, reconnecting$/).waitFor();
    await page.keyboard.press('Enter');
    await offlineAgain;
    await page.getByText('back, nothing was missed').waitFor();
    await settings.reload();
    await settings.getByRole('button', { name: 'Crash the gateway' }).click();
    await settings.getByText('The gateway is back, as a new process.').waitFor();
    expect(problems).toEqual([]);
  } finally {
    await context.close();
    await gateway.kill();
    await rm(home, { recursive: true, force: true });
  }
});
