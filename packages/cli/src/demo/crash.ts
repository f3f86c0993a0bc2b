import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { Bank, type Payment } from './bank.ts';
import { DemoGateway } from './demo-gateway.ts';

export interface CrashReport {
  readonly payments: readonly Payment[];
  /** How often the bank was asked: twice, once by each gateway. */
  readonly requests: number;
  /** How the call ended, in the transcript. */
  readonly settlements: readonly { readonly status: string; readonly text: string }[];
  /** What the agent told Ada. */
  readonly messages: readonly string[];
  readonly killed: number;
  readonly takenOverBy: number;
}

const ASKED = 'Please pay invoice A-17.';

/** Starts a payment, kills the gateway during the call, starts another gateway, and reports the outcome. */
export async function crash(tell: (line: string) => void): Promise<CrashReport> {
  const home = await mkdtemp(join(tmpdir(), 'lastcall-demo-'));
  await using bank = new Bank();
  const bankUrl = await bank.open();
  const first = await DemoGateway.start({ home, bankUrl });
  tell(`A gateway runs in process ${first.pid}. Ada writes: "${ASKED}"`);
  await say(first.api);
  const { euros, invoice, key } = await bank.firstPaid;
  tell(
    `The agent called pay_invoice. The bank has paid ${euros} € for ${invoice} (key ${key}); its answer is on the way.`,
  );
  await first.kill();
  tell(`kill -9 ${first.pid}: the gateway died during the call, before it got the bank's answer.`);
  const second = await DemoGateway.start({ home, bankUrl });
  try {
    tell(`Another gateway runs in process ${second.pid}, on the same folder. It finds the unfinished call.`);
    const run = await endedRun(second.api);
    return {
      ...(await reportOf(second.api, run)),
      payments: bank.payments,
      requests: bank.requests,
      killed: first.pid,
      takenOverBy: second.pid,
    };
  } finally {
    await second.kill();
    await rm(home, { recursive: true, force: true });
  }
}

async function say(api: Api): Promise<void> {
  const { items: spaces } = await api.get('/api/spaces');
  const { items: people } = await api.get('/api/entities?kind=human');
  await api.post(`/api/spaces/${spaces[0].id}/messages`, { entityId: people[0].id, text: ASKED });
}

const PATIENCE_MS = 60_000;

async function endedRun(api: Api): Promise<string> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(50)) {
    const { items } = await api.get('/api/runs?status=completed');
    if (items.length > 0) return String(items[0].id);
  }
  throw new CommandFailed('The second gateway did not finish the run.');
}

async function reportOf(api: Api, runId: string): Promise<Pick<CrashReport, 'settlements' | 'messages'>> {
  const { items } = await api.get(`/api/runs/${runId}/transcript`);
  const entries = items as {
    kind: string;
    entry: { settlement?: { toolName: string; outcome: { status: string; text: string } } };
  }[];
  const settled = entries.flatMap(({ kind, entry }) =>
    kind === 'settled' && entry.settlement ? [entry.settlement] : [],
  );
  const settlements = settled
    .filter(({ toolName }) => toolName === 'pay_invoice')
    .map(({ outcome: { status, text } }) => ({ status, text }));
  const { items: spaces } = await api.get('/api/spaces');
  const { items: messages } = await api.get(`/api/spaces/${spaces[0].id}/messages`);
  const texts = (messages as { kind: string; text: string }[])
    .filter(({ kind }) => kind === 'text')
    .map(({ text }) => text);
  return { settlements, messages: texts.filter((text) => text !== ASKED) };
}
