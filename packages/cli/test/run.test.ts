import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { type Folder, linkPackages, makeFolder } from './support/folder.ts';
import { type Ended, lastcall, Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

/** An agent whose model does literally what the task says. */
const CONFIG = `import { tool } from '@lastcall/core';
import { streamResult } from '@lastcall/core/internal';
import { appendFileSync } from 'node:fs';
import { z } from 'zod';

const finished = { unified: 'stop', raw: undefined };
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const reply = (content, unified = 'stop') => ({ content: [content], finishReason: { ...finished, unified }, usage, warnings: [] });
const call = (toolName, input = {}) =>
  reply({ type: 'tool-call', toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) }, 'tool-calls');
function generate({ prompt }) {
  const said = JSON.stringify(prompt);
  if (said.includes('Look around')) return call('look');
  if (said.includes('Sign it')) return call('sign');
  if (said.includes('Be filtered')) return reply({ type: 'text', text: '' }, 'content-filter');
  if (said.includes('Be cut off')) return reply({ type: 'text', text: 'I was abo' }, 'length');
  if (said.includes('Pay slowly') && !said.includes('"tool-result"')) return call('pay', {});
  return said.includes('Report') ? call('file_report', { body: 'All is well.' }) : reply({ type: 'text', text: 'Hello.' });
}
const model = {
  ...{ specificationVersion: 'v4', provider: 'test', modelId: 'obedient', supportedUrls: {} },
  doGenerate: async (request) => generate(request),
  doStream: async (request) => ({ stream: streamResult(generate(request), request.abortSignal) }),
};
export default {
  models: { obedient: model },
  model: 'obedient',
  agents: [{ name: 'Analyst', instructions: 'You report.', tools: ['look', 'pay', 'sign', 'file_report'] }],
  tools: {
    look: tool({ description: 'Looks around.', inputSchema: z.object({}), effects: 'none', execute: () => 'nothing' }),
    pay: tool({
      description: 'Pays.',
      inputSchema: z.object({}),
      idempotent: true,
      async execute(_input, { idempotencyKey }) {
        appendFileSync('paid.log', idempotencyKey + '\\\\n');
        console.log('paying');
        // Only the first gateway takes its time.
        if (process.env.SLOW !== undefined) await new Promise((resolve) => setTimeout(resolve, 60_000));
        return 'paid';
      },
    }),
    sign: tool({ description: 'Signs.', inputSchema: z.object({}), approval: true, execute: () => 'signed' }),
    file_report: tool({ description: 'Files a report.', inputSchema: z.object({ body: z.string() }), terminal: true, execute: ({ body }) => body }),
  },
};
`.replaceAll('\\\\n', '\\n');

let folder: Folder;
let gateway: Program;
let url: string;

beforeAll(async () => {
  folder = await makeFolder({ 'lastcall.config.js': CONFIG, 'package.json': '{"type":"module"}' });
  await linkPackages(folder.path);
  gateway = Program.lastcall(['start'], { folder: folder.path, env });
  url = await gateway.listens();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const run = (...args: readonly string[]): Promise<Ended> =>
  lastcall(['run', 'Analyst', ...args, '--url', url], { folder: folder.path, env });

test('[S12] run prints only the response on standard output, and the progress of the agent on standard error', async () => {
  const { code, out, err } = await run('Report on Tokyo', '--until', 'file_report');
  expect({ code, out }).toEqual({ code: 0, out: 'All is well.\n' });
  expect(err).toMatch(/^step 1 {2}file_report ok {2}[\d.]+ m?s\n$/);
  const json = await run('Report on Tokyo', '--until', 'file_report', '--json');
  expect(JSON.parse(json.out)).toMatchObject({ response: 'All is well.', stop: { reason: 'end_turn' } });
  expect(await run('Say hello')).toMatchObject({ code: 0, out: 'Hello.\n', err: '' });
});

test('[S12] the exit code of run says why the run stopped', async () => {
  const limited = await run('Look around', '--until', 'file_report');
  expect(limited).toMatchObject({
    code: 10,
    out: '',
    err: expect.stringMatching(
      /^Stopped: Max invocations exceeded \(the model was asked 64 times, which is the limit, and did not .*\)\. See: lastcall replay \S+$/m,
    ),
  });
  expect(await run('Be cut off')).toMatchObject({
    code: 13,
    err: expect.stringMatching(/^Stopped: the reply of the model was cut off\./m),
  });
  expect(await run('Be filtered')).toMatchObject({
    code: 13,
    err: expect.stringMatching(/^Stopped: the reply of the model was filtered\./m),
  });
  expect(await run('Sign it')).toMatchObject({
    code: 11,
    out: '',
    err: expect.stringMatching(/^Stopped: it waits for an answer\. See: lastcall replay \S+$/m),
  });
  expect(await run('Report', '--until', 'no_such_tool')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('no_such_tool'),
  });
  const nobody = await lastcall(['run', 'Nobody', 'Hello', '--url', url], { folder: folder.path, env });
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('There is no agent "Nobody".') });
});

test('[S12] tools test says that a tool that needs approval did not run, and with --approve runs it at once', async () => {
  const sign = ['tools', 'test', 'sign', '--url', url];
  expect(await lastcall(sign, { folder: folder.path, env })).toMatchObject({
    code: 11,
    out: expect.stringMatching(
      /^waiting [\d.]+ m?s The tool needs approval, so it did not run\. .* add --approve\.\n$/,
    ),
  });
  expect(await lastcall([...sign, '--approve'], { folder: folder.path, env })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ok [\d.]+ m?s "signed"\n$/),
  });
});

test('[S12] run continues if the gateway is killed in the middle and another takes over, and nothing is done with two keys', async () => {
  await using own = await makeFolder({ 'lastcall.config.js': CONFIG, 'package.json': '{"type":"module"}' });
  await linkPackages(own.path);
  await using first = Program.lastcall(['start'], { folder: own.path, env: { ...env, SLOW: 'yes' } });
  const address = await first.listens();
  await using running = Program.lastcall(['run', 'Analyst', 'Pay slowly, then Report', '--url', address], {
    folder: own.path,
    env,
  });
  await first.prints(/paying/);
  first.send('SIGKILL');
  await first.ended;
  await using second = Program.lastcall(['start', '--port', new URL(address).port], { folder: own.path, env });
  await second.listens();
  expect(await running.ended).toMatchObject({
    code: 0,
    out: 'All is well.\n',
  });
  const { items } = await new DemoSpace(address).ask('/api/runs');
  expect(items).toHaveLength(1);
  const keys = (await readFile(join(own.path, 'paid.log'), 'utf8')).trim().split('\n');
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
});

test('[S12] Ctrl+C cancels the run and exits with 130', async () => {
  await using own = await makeFolder({ 'lastcall.config.js': CONFIG, 'package.json': '{"type":"module"}' });
  await linkPackages(own.path);
  await using slow = Program.lastcall(['start'], { folder: own.path, env: { ...env, SLOW: 'yes' } });
  const address = await slow.listens();
  await using running = Program.lastcall(['run', 'Analyst', 'Pay slowly', '--url', address], { folder: own.path, env });
  await slow.prints(/paying/);
  running.send('SIGINT');
  expect(await running.ended).toMatchObject({
    code: 130,
    out: '',
    err: expect.stringMatching(/^Stopped: it was cancelled\. See: lastcall replay \S+$/m),
  });
  await slow.prints(/"event":"run".*"outcome":"cancelled"/);
});

test('[S12] a second Ctrl+C ends run at once, also if the gateway does not answer', async () => {
  await using own = await makeFolder({ 'lastcall.config.js': CONFIG, 'package.json': '{"type":"module"}' });
  await linkPackages(own.path);
  await using slow = Program.lastcall(['start'], { folder: own.path, env: { ...env, SLOW: 'yes' } });
  const address = await slow.listens();
  await using running = Program.lastcall(['run', 'Analyst', 'Pay slowly', '--url', address], { folder: own.path, env });
  await slow.prints(/paying/);
  slow.send('SIGSTOP');
  // Two signals that come together would be one.
  const pressing = setInterval(() => running.send('SIGINT'), 50);
  onTestFinished(() => clearInterval(pressing));
  let ended: Ended | undefined;
  void running.ended.then((end) => {
    ended = end;
  });
  // Without the second one, it would wait a minute for the gateway.
  await vi.waitUntil(() => ended, { timeout: 40_000, interval: 50 });
  // A signal that comes while the process leaves, when it no longer listens, ends it in the way that the system does.
  expect([130, 'SIGINT']).toContain(ended?.code ?? ended?.signal);
  expect(ended?.out).toBe('');
});
