import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { type Folder, linkPackages, makeFolder } from './support/folder.ts';
import { inProcess } from './support/in-process.ts';
import { type Ended, lastcall, Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

/** A clerk that pays once, and is only polite if its instructions say so. Each payment is a line in a file. */
const CONFIG = `import { tool } from '@lastcall/core';
import { streamResult } from '@lastcall/core/internal';
import { appendFileSync } from 'node:fs';
import { z } from 'zod';

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 2 } };
const reply = (content, unified) => ({ content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] });
function generate({ prompt }) {
  const said = JSON.stringify(prompt);
  const amount = said.includes('Pay double') ? 240 : 120;
  if (!said.includes('"tool-result"'))
    return reply({ type: 'tool-call', toolCallId: 'a', toolName: 'pay', input: JSON.stringify({ amount }) }, 'tool-calls');
  return reply({ type: 'text', text: said.includes('Be polite') ? 'Dear Ada, it is paid.' : 'Paid.' }, 'stop');
}
export default {
  models: { clerk: {
    ...{ specificationVersion: 'v4', provider: 'test', modelId: 'clerk', supportedUrls: {} },
    doGenerate: async (request) => generate(request),
    doStream: async (request) => ({ stream: streamResult(generate(request), request.abortSignal) }),
  } },
  model: 'clerk',
  agents: [{ name: 'Clerk', instructions: 'You pay.', tools: ['pay'] }],
  tools: { pay: tool({ description: 'Pays.', inputSchema: z.object({ amount: z.number() }), execute: ({ amount }) => (appendFileSync('paid.log', amount + ' '), 'Paid ' + amount) }) },
};
`;

const EVAL = `import { readFileSync } from 'node:fs';
import { calledTools, contains, evaluate } from '@lastcall/core/eval';

await evaluate({
  agent: 'Clerk',
  cases: JSON.parse(readFileSync('cases.json', 'utf8')),
  scores: { polite: contains('dear'), paid: calledTools(['pay']) },
});
`;

/** The cases are in the gateway. */
const STORED = `import { contains, evaluate } from '@lastcall/core/eval';

await evaluate({ name: 'clerk', agent: 'Clerk', cases: 'Polite clerk', scores: { polite: contains('dear') } });
`;

/** Its scorer kills the gateway if the file lose.json exists. */
const AWAY = `import { existsSync, readFileSync } from 'node:fs';
import { evaluate } from '@lastcall/core/eval';

async function lose() {
  if (!existsSync('lose.json')) return 1;
  const { pid, url } = JSON.parse(readFileSync('lose.json', 'utf8'));
  process.kill(pid, 'SIGKILL');
  while (await fetch(url).then(() => true, () => false)) await new Promise((resolve) => setTimeout(resolve, 10));
  return 1;
}
await (process.env.OWN
  ? evaluate({ name: 'own', run: () => 'Yes.', cases: [{ input: 'a' }], scores: { lose } })
  : evaluate({ name: 'away', agent: 'Clerk', cases: 'Away', scores: { lose }, parallel: 1 }));
`;

/** More runs than one request has. */
const MANY = `import { evaluate } from '@lastcall/core/eval';

await evaluate({ name: 'many', run: () => 'Yes.', cases: [{ input: 'a' }], repeat: 1_100, scores: { any: () => 1 } });
`;

let folder: Folder;
let gateway: Program;
let url: string;

beforeAll(async () => {
  folder = await makeFolder({
    ...{ 'lastcall.config.js': CONFIG, 'clerk.eval.js': EVAL, 'package.json': '{"type":"module"}' },
    ...{ 'stored.mjs': STORED, 'away.mjs': AWAY, 'many.mjs': MANY },
    ...{ 'polite.md': 'You pay. Be polite.', 'double.md': 'You pay. Pay double.', 'none.md': '' },
  });
  await linkPackages(folder.path);
  gateway = Program.lastcall(['start'], { folder: folder.path, env });
  url = await gateway.listens();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** In a separate process, because a process loads a file only once. */
const run = (...args: readonly string[]): Promise<Ended> =>
  lastcall([...args, '--url', url], { folder: folder.path, env });
const add = (...args: readonly string[]): ReturnType<typeof inProcess> =>
  inProcess(['eval', 'add', ...args, '--url', url], { folder: folder.path, env });

/** Gives the clerk a task, and resolves with the id of the run. */
async function pay(message: string): Promise<string> {
  const { run_id: runId } = await new DemoSpace(url).ask('/chat', { agent: 'Clerk', message });
  return runId;
}

test('[E6] [E8] a run becomes a case, and drafts are tried on it with its recorded outcomes, so nothing is paid again', async () => {
  const runId = await pay('Pay the invoice.');
  const paid = () => readFile(join(folder.path, 'paid.log'), 'utf8');
  expect(await paid()).toBe('120 ');

  const added = await run('eval', 'add', runId);
  expect([added.code, added.out]).toEqual([0, 'Added "Pay the invoice." to cases.json as case 1.\n']);
  expect(JSON.parse(await readFile(join(folder.path, 'cases.json'), 'utf8'))).toEqual([
    { name: 'Pay the invoice.', input: 'Pay the invoice.', expected: 'Paid.', run: runId },
  ]);

  const report = async (...args: string[]) => JSON.parse((await run('eval', '--json', ...args)).out);
  const before = await report();
  expect(before.scores).toMatchObject({ polite: { mean: 0 }, paid: { mean: 1 } });
  const draft = await report('--instructions', 'polite.md');
  expect(draft.samples[0].response).toBe('Dear Ada, it is paid.');
  expect(draft.scores).toMatchObject({ polite: { mean: 1 }, paid: { mean: 1 } });
  // A call that was not recorded does not run.
  const other = await report('--instructions', 'double.md');
  expect(other.samples[0].error).toContain('pay {"amount":240} waits: the original has no outcome of such a call.');
  expect(await paid()).toBe('120 ');
});

test('[E6] [E7] [E8] cases and results are in the gateway, and a draft is tried on the last tasks, so nothing is paid again', async () => {
  const [first, second] = [await pay('Pay Ada.'), await pay('Pay Ben.')];
  const paid = () => readFile(join(folder.path, 'paid.log'), 'utf8');
  const before = await paid();
  const missing = await run('eval', 'stored.mjs');
  expect(missing.err).toContain('The gateway has no evaluation "Polite clerk".');
  for (const runId of [first, second]) {
    const { out } = await add(runId, '--evaluation', 'Polite clerk', '--expected', 'Dear');
    expect(out).toMatch(/^Added "Pay (Ada|Ben)\." to the evaluation "Polite clerk"\.\n$/);
  }
  const sent = await run('eval', 'stored.mjs', '--send');
  expect(sent.err).toMatch(/Sent as "v1"\. See: http:.+\/evaluations\/[\w-]+\n/);
  await run('eval', 'stored.mjs', '--send', '--instructions', 'polite.md', '--parallel', '1');

  // biome-ignore lint/suspicious/noExplicitAny: the test asserts on the fields it reads.
  const api = async (path: string): Promise<any> =>
    await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })).json();
  const [{ id }] = (await api('/api/evaluations?name=clerk')).items;
  const { versions } = await api(`/api/evaluations/${id}`);
  expect(versions).toMatchObject([
    { version: 'v1 + polite.md', samples: 2, scores: { polite: { mean: 1 } }, change: { polite: { mean: 1, p: 0.5 } } },
    { version: 'v1', scores: { polite: { mean: 0 } } },
  ]);
  const { items } = await api(`/api/evaluations/${id}/results`);
  const { fork } = await api(`/api/runs/${items[0].cells[0].samples[0].runId}`);
  expect([first, second]).toContain(fork.runId);

  const same = await run('eval', 'Clerk', '--last', '2');
  expect(same.out).toContain('All tasks got the same answers with the same calls.');
  const draft = await run('eval', 'Clerk', '--last', '2', '--instructions', 'polite.md');
  expect(draft.out).toMatch(/same answer +0 %.+\nsame calls +100 %/);
  expect(draft.out).toMatch(/\nPay Ben\.\n {2}before {2}Paid\.\n {2}now {5}Dear Ada, it is paid\.\n {2}run/);
  const other = JSON.parse((await run('eval', 'Clerk', '--last', '1', '--instructions', 'double.md', '--json')).out);
  expect(other.differences).toMatchObject([
    { runId: second, before: { response: 'Paid.' }, now: { error: expect.stringContaining('{"amount":240} waits') } },
  ]);
  const none = JSON.parse((await run('eval', 'Clerk', '--last', '1', '--instructions', 'none.md', '--json')).out);
  expect((await api(`/api/runs/${none.samples[0].runId}`)).fork.changes.instructions).toBe('');
  expect(await paid()).toBe(before);
  const unknown = JSON.parse((await run('eval', 'Clerk', '--last', '1', '--model', 'acme/none', '--json')).out);
  expect(unknown.samples[0].error).toMatch(
    /^Error: The fork did not complete: There is no model "acme\/none"\. .+ See: lastcall replay [\w-]+$/,
  );
  const unnamed = await run('eval', '--last', '2');
  expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining('Name one agent')]);
});

test('[E7] a report of many runs is sent in pieces, and the gateway has all of them', async () => {
  const { err } = await run('eval', 'many.mjs', '--send');
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts on the fields it reads.
  const api = async (path: string): Promise<any> =>
    await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })).json();
  const [, id] = /\/evaluations\/([\w-]+)\n/.exec(err) ?? [];
  expect((await api(`/api/evaluations/${id}`)).versions).toMatchObject([{ samples: 1_100 }]);
});

test('a second case with the same words gets another name, and a file that is not a list is not changed', async () => {
  const runId = await pay('Pay the invoice.');
  // The folder is new, too.
  await add(runId, '--file', 'new/more.json');
  await add(runId, '--file', 'new/more.json', '--expected', 'Yes.');
  const cases = JSON.parse(await readFile(join(folder.path, 'new/more.json'), 'utf8'));
  expect(cases.map(({ name, expected }: Record<string, string>) => [name, expected])).toEqual([
    ['Pay the invoice.', 'Paid.'],
    ['Pay the invoice. (2)', 'Yes.'],
  ]);
  await writeFile(join(folder.path, 'wrong.json'), '{"a":1}');
  const wrong = await add(runId, '--file', 'wrong.json');
  expect([wrong.code, wrong.err]).toEqual([2, 'wrong.json is not a list of cases. Name another file with --file.\n']);
  expect(await readFile(join(folder.path, 'wrong.json'), 'utf8')).toBe('{"a":1}');
  const missing = await add('none');
  expect(missing.code).toBe(1);
});

test('[E5] [E7] if the gateway goes away, finished work is kept: no case counts as failed, and no unsent result is lost', async () => {
  for (const words of ['Pay one.', 'Pay two.', 'Pay three.'])
    await add(await pay(words), '--evaluation', 'Away', '--expected', 'Paid');
  const start = async (): Promise<void> => {
    await gateway[Symbol.asyncDispose]();
    gateway = Program.lastcall(['start'], { folder: folder.path, env });
    url = await gateway.listens();
    await rm(join(folder.path, 'lose.json'), { force: true });
  };
  const lose = () => writeFile(join(folder.path, 'lose.json'), JSON.stringify({ pid: gateway.pid, url }));
  const kept = async () =>
    (await readFile(join(folder.path, '.lastcall/evals/away.part.jsonl'), 'utf8')).trim().split('\n').slice(1);

  await lose();
  const lost = await run('eval', 'away.mjs');
  expect([lost.code, lost.out]).toEqual([3, '']);
  expect(lost.err).toContain('away: what was done is kept. The same command continues with the rest.');
  expect(lost.err).toContain('No gateway answers at');
  expect(await kept()).toHaveLength(1);
  await start();
  const continued = await run('eval', 'away.mjs');
  expect(continued.err).toContain('away: continues with 1 runs that were done before.');
  expect(continued.out).toMatch(/^away: 3 runs in/);

  // Results of one configuration are not continued with another.
  await lose();
  await run('eval', 'away.mjs');
  await writeFile(join(folder.path, 'lastcall.config.js'), CONFIG.replace('You pay.', 'You always pay.'));
  await start();
  expect((await run('eval', 'away.mjs')).err).not.toContain('continues');

  // A report that could not be sent is sent by the same command, without running any case again.
  const own = (...args: readonly string[]) =>
    lastcall(['eval', 'away.mjs', '--send', '--url', url, ...args], { folder: folder.path, env: { ...env, OWN: '1' } });
  await lose();
  expect((await own()).code).toBe(3);
  await start();
  const sent = await own();
  expect([sent.code, sent.err]).toEqual([0, expect.stringMatching(/own: continues with 1 runs[\s\S]+Sent as "/)]);

  // Input that the gateway would refuse at the end is refused before anything runs, and so is a key that may only read.
  const long = await own('--label', 'x'.repeat(201));
  expect([long.code, long.err]).toEqual([2, '--label must have 1 to 200 characters.\n']);
  const weak = (await new DemoSpace(url).ask('/api/keys', { name: 'weak', scopes: ['read'] })).key;
  const refused = await lastcall(['eval', 'away.mjs', '--send', '--url', url], {
    folder: folder.path,
    env: { ...env, LASTCALL_SECRET_KEY: weak },
  });
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('it takes one with the scope write.')]);
}, 180_000);
