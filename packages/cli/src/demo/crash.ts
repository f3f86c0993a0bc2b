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
  try {
    return await crashIn(home, tell);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function crashIn(home: string, tell: (line: string) => void): Promise<CrashReport> {
  await using bank = new Bank();
  const bankUrl = await bank.open();
  await using first = await DemoGateway.start({ home, bankUrl });
  tell(`A gateway runs in process ${first.pid}. Ada writes: "${ASKED}"`);
  await say(first.api);
  const { euros, invoice, key } = await bank.firstPaid;
  tell(
    `The agent called pay_invoice. The bank has paid ${euros} € for ${invoice} (key ${key}); its answer is on the way.`,
  );
  await first.kill();
  tell(`kill -9 ${first.pid}: the gateway died during the call, before it got the bank's answer.`);
  await using second = await DemoGateway.start({ home, bankUrl });
  tell(`Another gateway runs in process ${second.pid}, on the same folder. It finds the unfinished call.`);
  const run = await endedRun(second.api);
  return {
    ...(await reportOf(second.api, run)),
    payments: bank.payments,
    requests: bank.requests,
    killed: first.pid,
    takenOverBy: second.pid,
  };
}

async function say(api: Api): Promise<void> {
  await api.ask(async (client) => {
    const [space] = (await client.spaces.list()).items;
    const [ada] = (await client.entities.list({ kind: 'human' })).items;
    await client.spaces.say(space?.id ?? '', { entityId: ada?.id, text: ASKED });
  });
}

const PATIENCE_MS = 60_000;

async function endedRun(api: Api): Promise<string> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(50)) {
    const [run] = (await api.ask((client) => client.runs.list({ status: 'completed' }))).items;
    if (run !== undefined) return run.id;
  }
  throw new CommandFailed('The second gateway did not finish the run.');
}

async function reportOf(api: Api, runId: string): Promise<Pick<CrashReport, 'settlements' | 'messages'>> {
  return await api.ask(async (client) => {
    const { items: entries } = await client.runs.transcript(runId);
    const settled = entries.flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement] : []));
    const settlements = settled
      .filter(({ toolName }) => toolName === 'pay_invoice')
      .map(({ outcome: { status, text } }) => ({ status, text }));
    const [space] = (await client.spaces.list()).items;
    const { items: messages } = await client.spaces.messages(space?.id ?? '');
    const texts = messages.filter(({ kind }) => kind === 'text').map(({ text }) => text);
    return { settlements, messages: texts.filter((text) => text !== ASKED) };
  });
}
