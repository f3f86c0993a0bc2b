import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@lastcall/client';
import { expect, test } from 'vitest';
import { GatewayProcess } from '../../../gateway/test/processes/gateway-process.ts';
import { onSqlite } from '../../../gateway/test/support/stores.ts';
import { useBrowser } from '../support/browser.ts';
import { heldDemo } from './held-demo.ts';

const browser = useBrowser();
const KEY = 'a-key-for-the-tests-of-the-studio';

/** A port below the ephemeral range, so that no other process gets it while the gateway is dead. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

const title =
  '[S9] a gateway that is killed while an agent works, and started again: the page says so meanwhile, nothing is lost or repeated';

test(title, async () => {
  const database = await onSqlite.create();
  const home = await mkdtemp(join(tmpdir(), 'lastcall-studio-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { env: held, letGo } = heldDemo(home);
  const env = {
    PORT: String(port),
    LASTCALL_SECRET_KEY: KEY,
    LASTCALL_HOME: database.location,
    ...held,
  };
  const start = (): Promise<GatewayProcess> => GatewayProcess.start({ name: 'studio', folder: home, env });
  let gateway = await start();
  // High enough for all messages, because invisible ones are not in the page.
  const context = await browser().newContext({ viewport: { width: 1_200, height: 3_000 } });
  context.setDefaultTimeout(60_000);
  try {
    const admin = createClient({ url, auth: { key: KEY } });
    const [ada] = (await admin.entities.list({ externalId: 'demo:ada' })).items;
    const accounts = (await admin.spaces.list()).items.find(({ name }) => name === 'Accounts');
    const made = await fetch(`${url}/api/links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ entityId: ada?.id }),
    });
    const { hash } = new URL(((await made.json()) as { url: string }).url);
    const page = await context.newPage();
    await page.goto(`${url}/spaces/${accounts?.id}${hash}`);
    const log = page.getByRole('log', { name: 'Messages' });
    await page.getByRole('button', { name: 'Pay invoice 4711, amount 120.' }).click();
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    const field = page.getByRole('textbox', { name: /^Write to/ });
    await field.fill('Import the receipts of October.');
    await field.press('Enter');
    await log.getByText(/receipt \d of 4/).waitFor();
    await gateway.kill();

    await page.getByText(/^offline since .*, reconnecting$/).waitFor();
    await field.fill('What I typed meanwhile.');
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await expect.poll(() => approve.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('You are offline: nothing is sent or queued. Your text stays here.').waitFor();

    // It is visible only for a few seconds, so the wait starts before.
    const back = page.getByText('back, nothing was missed').waitFor();
    gateway = await start();
    await letGo();
    await back;
    // Another worker takes the run over once the dead one's lease has ended, and the call ends once.
    await log.getByText('import_receipts, and it').or(log.getByText('import_receipts failed')).first().waitFor();
    await expect.poll(() => page.getByText('is at work').count(), { timeout: 60_000 }).toBe(0);
    await field.press('Enter');
    await log.getByText('What I typed meanwhile.', { exact: true }).waitFor();
    await log.getByText('I have read: "What I typed meanwhile."').waitFor();
    // The answer is shown while it is written, and stored at its end.
    const stored = async () => (await admin.spaces.messages(accounts?.id ?? '', { limit: 200 })).items;
    await expect.poll(async () => (await stored()).at(-1)?.text).toContain('I have read: "What I typed meanwhile."');
    const seqs = (await stored()).map(({ seq }) => seq);
    const shown = () =>
      log.getByRole('article').evaluateAll((all) => all.map((one) => Number((one as HTMLElement).dataset.seq)));
    await expect.poll(shown).toEqual(seqs);
  } finally {
    await context.close();
    await gateway.kill();
    await rm(home, { recursive: true, force: true });
    await database.remove();
  }
});
