import { describe, expect, test } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { linkPackages, makeFolder } from './support/folder.ts';
import { BIN, Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

const SHOP = `import { tool } from '@lastcall/core';
import { z } from 'zod';

const open_till = tool({
  description: 'Opens the till.',
  inputSchema: z.object({ number: z.number().default(1) }),
  execute() {
    throw new Error('The till is stuck \\u001b[31m\\nand jammed');
  },
});
export default {
  agents: [{ name: 'Clerk', instructions: 'You open the till.', tools: ['open_till'] }],
  tools: { open_till },
  spaces: [{ name: 'Shop', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
};
`;

describe('the output of a start', { concurrent: true }, () => {
  test('a gateway goes on when the reader of its output closes the pipe', async () => {
    await using folder = await makeFolder({ 'lastcall.config.ts': SHOP });
    await linkPackages(folder.path);
    // The lines that follow the address have no reader.
    const command = ['bash', '-c', 'node "$BIN" start | head -n 2'];
    await using gateway = new Program(command, { folder: folder.path, env: { ...env, BIN } });
    const space = new DemoSpace(await gateway.listens());
    await space.say('Hello.');
    await space.ended(1);
    await space.say('Are you still there?');
    expect(await space.ended(2)).toHaveLength(2);
  });

  test('[S16] a start says which configuration, store and model it found and why, and how many agents, tools and spaces', async () => {
    await using folder = await makeFolder({ 'lastcall.config.ts': SHOP });
    await linkPackages(folder.path);
    await using gateway = Program.lastcall(['start', '--no-json'], { folder: folder.path, env });
    await gateway.listens();
    expect(gateway.out).toMatch(
      /^lastcall\.config\.ts, SQLite in \.lastcall, model rehearsal \(no key found\), 1 agent, 1 tool, 1 space\nLastcall listens on \S+\n$/,
    );
    gateway.send('SIGTERM');
    await gateway.ended;
    await using piped = Program.lastcall(['start'], { folder: folder.path, env });
    await piped.listens();
    const lines = piped.out.split('\n').filter((line) => line.startsWith('{'));
    const found = lines.map((line) => JSON.parse(line)).find(({ details }) => details?.event === 'found');
    expect(found?.details, piped.out).toMatchObject({
      ...{ configuration: 'lastcall.config.ts', store: 'SQLite in .lastcall', agents: 1, tools: 1, spaces: 1 },
      model: { name: 'rehearsal', why: 'no key found' },
    });
  });

  test('[S17] with --json every line of a start is JSON: the first key, shown once, and the address, too', async () => {
    await using folder = await makeFolder();
    await using gateway = Program.lastcall(['start', '--json'], { folder: folder.path, env: { PORT: '0' } });
    await gateway.prints(/"event":"listening"/);
    const lines = gateway.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).details);
    expect(lines).toMatchObject([
      { event: 'found' },
      { event: 'key', key: expect.stringMatching(/^lc_sk_/) },
      { event: 'listening', url: expect.stringMatching(/^http/) },
    ]);
  });

  test('[S16] if the package for a key is missing, the start names the command that installs it, and the demo answers', async () => {
    await using folder = await makeFolder();
    const keyed = { ...env, GOOGLE_GENERATIVE_AI_API_KEY: 'sk-of-nobody-at-all' };
    await using gateway = Program.lastcall(['start', '--no-json'], { folder: folder.path, env: keyed });
    const space = new DemoSpace(await gateway.listens());
    expect(gateway.out).toContain(
      'GOOGLE_GENERATIVE_AI_API_KEY is set, but the package of its provider is missing: npm install @ai-sdk/google\n',
    );
    expect(gateway.out).toContain('No lastcall.config.ts: running the demo');
    expect(gateway.out).toContain('model rehearsal (no provider can be used)');
    await space.say('Hello!');
    await space.ended(1);
    await gateway.prints(/Concierge: This is a rehearsal/);
  });

  test.each([
    ['openai/gpt-5', 'The model "openai/gpt-5" needs a key: set OPENAI_API_KEY in the environment', {}],
    ['google/gemini-2.5-pro', 'npm install @ai-sdk/google', { GOOGLE_GENERATIVE_AI_API_KEY: 'sk-of-nobody-at-all' }],
    ['nobody/any', 'There is no model "nobody/any". Use anthropic/<model>', {}],
  ])('[S16] the start reports a model that cannot work, %s: %s', async (LASTCALL_MODEL, sentence, more) => {
    await using folder = await makeFolder();
    const named = { ...env, LASTCALL_MODEL, ...more };
    await using gateway = Program.lastcall(['start', '--no-json'], { folder: folder.path, env: named });
    await gateway.listens();
    expect(gateway.out.split('\n').filter((line) => line.includes(sentence))).toHaveLength(1);
  });

  test('[S17] on a terminal each message, call and run is one line, and a tool that throws shows its message', async () => {
    await using folder = await makeFolder({ 'lastcall.config.ts': SHOP });
    await linkPackages(folder.path);
    const start = [process.execPath, BIN, 'start'].join(' ');
    // A real terminal, which the program detects without an option.
    await using gateway = new Program(['script', '-qefc', start, '/dev/null'], { folder: folder.path, env });
    const url = (await gateway.prints(/Lastcall listens on (http\S+)/))[1] ?? '';
    await gateway.prints(new RegExp(`Open ${url}/#in=[\\w-]{43} \\(signs in once, 15 minutes\\)`));
    const space = new DemoSpace(url);
    await space.say('Open the till\u001b[2J, please.');
    await space.ended(1);
    await gateway.prints(/run 1/);
    const lines = gateway.out.split('\r\n').filter((line) => /^\d\d:\d\d:\d\d /.test(line));
    expect(lines.map((line) => line.replace(/^\S+ /, '').replace(/[\d.]+ m?s$/, '… ms'))).toEqual([
      'Shop  Ada: Open the till [2J, please.',
      'Clerk  open_till error execution: The till is stuck [31m and jammed  … ms',
      expect.stringMatching(/^Shop {2}Clerk: This is a rehearsal/),
      'Clerk  send_message ok  … ms',
      'Clerk  run 1 completed: 1 error, 1 ok  … ms',
    ]);
  });

  test('[S17] in a pipe the same is one JSON line each, without the text of the message', async () => {
    await using folder = await makeFolder({ 'lastcall.config.ts': SHOP });
    await linkPackages(folder.path);
    await using gateway = Program.lastcall(['start'], { folder: folder.path, env });
    const space = new DemoSpace(await gateway.listens());
    await space.say('Open the till, please.');
    await space.ended(1);
    await gateway.prints(/"event":"run"/);
    const lines = gateway.out.split('\n').filter((line) => line.startsWith('{'));
    const events = lines.flatMap((line) => JSON.parse(line).details ?? []).filter(({ event }) => event !== 'found');
    expect(events).toMatchObject([
      { event: 'message', space: 'Shop', from: 'Ada', characters: 22 },
      {
        event: 'call',
        agent: 'Clerk',
        toolName: 'open_till',
        outcome: 'error',
        durationMs: expect.any(Number),
        code: 'execution',
        message: expect.stringContaining('stuck'),
      },
      { event: 'message', from: 'Clerk' },
      { event: 'call', toolName: 'send_message', outcome: 'ok' },
      { event: 'run', agent: 'Clerk', run: 1, outcome: 'completed', calls: { ok: 1, error: 1 } },
    ]);
    expect(gateway.out).not.toContain('Open the till, please');
    // The sign-in link is not printed into a pipe, because the output may be stored and read by other people.
    expect(gateway.out).not.toContain('#in=');
  });
});
