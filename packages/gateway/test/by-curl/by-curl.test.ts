import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GatewayProcess } from '../processes/gateway-process.ts';
import { until } from '../processes/until.ts';
import { Shell } from './shell.ts';

const root = join(import.meta.dirname, '../../../..');
const page = await readFile(join(root, 'docs/by-curl.md'), 'utf8');

function blocksOf(language: string): readonly string[] {
  return Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms')), ([, body]) => body ?? '');
}

/** Values that are different in each run of the demonstration. */
function withoutReference(text: string): string {
  return text.replace(/reference [0-9A-F]{8}/, 'reference …').trim();
}

/** The command of `npm start`, with another folder. */
async function npmStart(): Promise<readonly string[]> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const [node, condition = '', program = '', ...args] = manifest.scripts.start.split(' ');
  expect(node).toBe('node');
  return [process.execPath, condition, join(root, program), ...args];
}

test('the commands of by-curl.md do what the page says, in order', { timeout: 120_000 }, async () => {
  const blocks = blocksOf('sh');
  expect(blocks).toHaveLength(6);
  const [start = '', hello = '', watch = '', book = '', answer = '', read = ''] = blocks;
  const [, secretKey = ''] = /^LASTCALL_SECRET_KEY=(\S+) npm start\n$/.exec(start) ?? [];
  expect(secretKey).not.toBe('');

  const folder = await mkdtemp(join(tmpdir(), 'lastcall-readme-'));
  const env = { PORT: '0', LASTCALL_SECRET_KEY: secretKey };
  const gateway = await GatewayProcess.start({ name: 'readme', folder, env, command: await npmStart() });
  try {
    await using shell = new Shell(folder);
    const here = (commands: string): string => commands.replace('http://127.0.0.1:4100', gateway.url);
    expect(here(hello)).not.toBe(hello);
    const api = async (path: string): Promise<readonly Record<string, unknown>[]> => {
      const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${secretKey}` } });
      return ((await response.json()) as { items: Record<string, unknown>[] }).items;
    };
    const ended = (count: number): Promise<true> =>
      until(`run ${count} ended`, async () => {
        const runs = await api('/api/runs');
        return runs.filter(({ endedAt }) => endedAt !== undefined).length >= count ? true : undefined;
      });

    expect(JSON.parse(await shell.run(here(hello)))).toMatchObject({ seq: 1, text: 'Hello!', status: 'complete' });
    await ended(1);
    const prelude = here(hello).replace("say 'Hello!'\n", '');
    await using watching = new Shell(folder);
    const seen = await watching.follow(prelude + watch, (printed) => printed.includes('event: agent.inactive'));
    expect(Array.from(seen.matchAll(/^event: (\S+)$/gm), ([, type]) => type)).toEqual(
      expect.arrayContaining(['message.complete', 'agent.active', 'message.start', 'message.delta']),
    );

    expect(JSON.parse(await shell.run(book))).toMatchObject({ text: 'Book a hotel in Tokyo, please.' });
    await ended(2);
    expect(JSON.parse(await shell.run(answer))).toMatchObject({ duplicate: false });
    await ended(3);
    const [promised = ''] = blocksOf('console');
    expect(withoutReference(await shell.run(read))).toBe(withoutReference(promised));

    gateway.send('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  } finally {
    await gateway.kill();
    await rm(folder, { recursive: true, force: true });
  }
});
