import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { makeFolder } from './support/folder.ts';
import { Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

const isGone = async (url: string): Promise<boolean> =>
  await fetch(url).then(
    () => false,
    () => true,
  );

/** Starts a run that takes two seconds. Resolves once it has begun. */
async function startImport(demo: DemoSpace): Promise<void> {
  const { items: spaces } = await demo.ask('/api/spaces');
  const { items: people } = await demo.ask('/api/entities?kind=human');
  const { id } = spaces.find(({ name }: { name: string }) => name === 'Accounts');
  await demo.ask(`/api/spaces/${id}/messages`, { entityId: people[0].id, text: 'Import the receipts of October.' });
  while ((await demo.ask('/api/runs')).items.length === 0) await sleep(20);
}

describe('the process that runs the demo', { concurrent: true }, () => {
  test('[S19] after a crash the demo starts again with the same address, key and link, and it stops on a signal', async () => {
    await using folder = await makeFolder();
    await using program = Program.lastcall(['start'], { folder: folder.path, env });
    const url = await program.listens();
    const [, code] = await program.prints(/#in=([\w-]+)/);
    const { gatewayId: first } = await new DemoSpace(url).ask('/api/status');
    expect(await new DemoSpace(url).ask('/api/demo/crash', {})).toEqual({});
    await program.prints(/^Process \d+ was killed with SIGKILL, as asked: starting the gateway again\.$/m);
    await program.prints(/(^Lastcall listens on .*$[\s\S]*){2}/m);
    expect(new Set(program.out.match(/(?<=Lastcall listens on )\S+/g))).toEqual(new Set([url]));
    expect((await new DemoSpace(url).ask('/api/status')).gatewayId).not.toBe(first);
    const signedIn = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', origin: url },
      body: JSON.stringify({ code }),
    });
    expect(signedIn.status, await signedIn.text()).toBe(201);
    program.send('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
    expect(await isGone(url)).toBe(true);
  });

  test('Ctrl+C, which reaches both processes of the demo, stops it gracefully; killing the first process ends the second', async () => {
    await using folder = await makeFolder();
    await using program = Program.lastcall(['start'], { folder: folder.path, env });
    await startImport(new DemoSpace(await program.listens()));
    process.kill(-program.pid, 'SIGINT');
    expect(await program.ended).toMatchObject({ code: 0, signal: null, err: '' });
    // A graceful stop lets the run finish.
    expect(program.out).toContain('"event":"run"');
    await using other = Program.lastcall(['start'], { folder: folder.path, env });
    const url = await other.listens();
    other.send('SIGKILL');
    // `ended` resolves when no process holds its output any more, so the gateway is gone too.
    expect(await other.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(await isGone(url)).toBe(true);
  });

  test('[S18] an error that stops the start of the demo is printed once, with its exit code', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    await using folder = await makeFolder();
    await using program = Program.lastcall(['start', '--port', String(port)], { folder: folder.path, env });
    const { code, err } = await program.ended;
    server.close();
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toEqual([expect.stringContaining(String(port))]);
  });
});
