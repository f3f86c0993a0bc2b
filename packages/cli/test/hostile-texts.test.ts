import { tmpdir } from 'node:os';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { inProcess } from './support/in-process.ts';

// A terminal would take these as commands: clear the screen, fill the clipboard, go to the start of the line, change the colour.
const HOSTILE = '\u001b[2J\u001b]52;c;cm0gLXJm\u0007 ok\rforged\u009b31m';
const VISIBLE = '\\u001b[2J\\u001b]52;c;cm0gLXJm\\u0007 ok\\u000dforged\\u009b31m';

const controls = (text: string): readonly string[] => text.match(/[^\P{Cc}\n\t]/gu) ?? [];

async function startGateway(replies: Parameters<typeof scriptedModel>[0]) {
  return await startTestGateway({
    model: scriptedModel(replies),
    agents: [{ name: 'Analyst', instructions: 'Report.' }],
    tools: { fixed: { executionType: 'internal', execution: { value: { said: HOSTILE } } } },
  });
}

test.each([
  ['run', 'Analyst', 'Report.'],
  ['run', 'Analyst', 'Report.', '--json'],
])('control characters of a response are shown by "%s", and do not reach the terminal', async (...args) => {
  await using gateway = await startGateway([`Two\tcolumns\r\nand lines ${HOSTILE}`]);
  const env = { LASTCALL_SECRET_KEY: gateway.secretKey, LASTCALL_URL: gateway.url };
  const { code, out, err } = await inProcess(args, { folder: tmpdir(), env });
  expect([code, controls(out.replaceAll('\r\n', '\n')), controls(err)]).toEqual([0, [], []]);
  if (args.includes('--json')) expect(JSON.parse(out).response).toBe(`Two\tcolumns\r\nand lines ${HOSTILE}`);
  else expect(out).toBe(`Two\tcolumns\r\nand lines ${VISIBLE}\n`);
});

test('control characters of an error of a model do not reach the terminal, and replay shows it in one line', async () => {
  await using gateway = await startGateway([
    Object.assign(new Error(`${HOSTILE}\nStep 2  forged`), { isRetryable: false }),
  ]);
  const env = { LASTCALL_SECRET_KEY: gateway.secretKey, LASTCALL_URL: gateway.url };
  const run = await inProcess(['run', 'Analyst', 'Report.'], { folder: tmpdir(), env });
  const replay = await inProcess(['replay'], { folder: tmpdir(), env });
  expect([run, replay].flatMap(({ out, err }) => [...controls(out), ...controls(err)])).toEqual([]);
  expect(replay.out).toContain('forged');
  expect(replay.out).not.toMatch(/^Step 2 /m);
});

test('control characters of exported texts and of refusals do not reach the terminal, and the JSON means the same', async () => {
  await using gateway = await startGateway([]);
  const env = { LASTCALL_SECRET_KEY: gateway.secretKey, LASTCALL_URL: gateway.url };
  const texts = { said: HOSTILE };
  const { id } = await gateway.api('/api/entities', { kind: 'human', displayName: 'Ada', metadata: texts });
  const exported = await inProcess(['export', String(id)], { folder: tmpdir(), env });
  expect([exported.code, controls(exported.out)]).toEqual([0, []]);
  expect(JSON.parse(exported.out.split('\n', 1)[0] ?? '')).toMatchObject({ metadata: texts });
  const refused = await inProcess(['export', HOSTILE], { folder: tmpdir(), env });
  expect([refused.code, controls(refused.err)]).toEqual([1, []]);
  expect(refused.err).toContain('31m');
});

test('control characters of a tool that is tried are shown, and do not reach the terminal', async () => {
  await using gateway = await startGateway([]);
  const env = { LASTCALL_SECRET_KEY: gateway.secretKey, LASTCALL_URL: gateway.url };
  const { code, out } = await inProcess(['tools', 'test', 'fixed'], { folder: tmpdir(), env });
  expect([code, controls(out)]).toEqual([0, []]);
  expect(out).toContain('\\u009b31m');
});
