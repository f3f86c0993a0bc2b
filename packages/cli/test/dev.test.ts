import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DemoSpace, KEY } from './support/demo-space.ts';
import { makeFolder } from './support/folder.ts';
import { Program } from './support/program.ts';

const env = { PORT: '0', LASTCALL_SECRET_KEY: KEY };

const config = (name: string): string => `import { agent } from './agents/agent.ts';
export default { agents: [agent('${name}')] };
`;
const AGENT = `export const agent = (name: string) => ({ name, instructions: 'You wait.' });\n`;

test('[S12] dev starts again when the configuration or what it imports changes, also after one that cannot work', async () => {
  await using own = await makeFolder({ 'lastcall.config.ts': config('Anna'), 'agents/agent.ts': AGENT });
  await using dev = Program.lastcall(['dev', '--json'], { folder: own.path, env });
  const names = async (starts: number): Promise<string[]> => {
    const found = await dev.prints(new RegExp(`(?:[\\s\\S]*?"event":"listening","url":"(http[^"]+)"){${starts}}`));
    const { items } = await new DemoSpace(found[1] ?? '').ask('/api/agents');
    return items.map(({ name }: { name: string }) => name).sort();
  };
  expect(await names(1)).toEqual(['Anna']);
  await write(own.path, 'lastcall.config.ts', config('Ben'));
  await dev.prints(/lastcall\.config\.ts has changed: starting again\./);
  expect(await names(2)).toEqual(['Anna', 'Ben']);
  await write(own.path, 'agents/agent.ts', 'export const agent = (');
  await dev.prints(/agent\.ts has changed[\s\S]*cannot be loaded[\s\S]*It starts again when a file changes\./);
  await write(own.path, 'agents/agent.ts', AGENT.replace('{ name,', "{ name: name + '!',"));
  expect(await names(3)).toEqual(['Anna', 'Ben', 'Ben!']);
  dev.send('SIGTERM');
  expect(await dev.ended).toMatchObject({ code: 0 });
});

/** It never ends by itself, and writes down whether the gateway before it was still running when it started. */
const STUBBORN = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
const isRunning = (pid) => { try { return process.kill(Number(pid), 0); } catch { return false; } };
if (existsSync('pid') && isRunning(readFileSync('pid', 'utf8'))) appendFileSync('overlaps', process.pid + ' ');
writeFileSync('pid', String(process.pid));
process.on('SIGTERM', () => { for (;;); });
export default { agents: [] };
`;

test('[S12] a file that changes while dev waits for the gateway to end does not start a second gateway', async () => {
  await using own = await makeFolder({ 'lastcall.config.mjs': STUBBORN });
  await using dev = Program.lastcall(['dev', '--json'], { folder: own.path, env });
  const saved = async (times: number): Promise<void> => {
    await write(own.path, 'lastcall.config.mjs', `${STUBBORN}// ${times}\n`);
    await dev.prints(new RegExp(`(?:has changed: starting again\\.[\\s\\S]*){${times}}`));
  };
  await dev.prints(/"event":"listening"/);
  await saved(1);
  await saved(2);
  await dev.prints(/(?:"event":"listening"[\s\S]*){2}/);
  await saved(3);
  await dev.prints(/(?:"event":"listening"[\s\S]*){3}/);
  await expect(readFile(join(own.path, 'overlaps'), 'utf8')).rejects.toThrow('ENOENT');
});

test('[S12] dev does not run the demo in the store of a configuration that was moved away', async () => {
  const text = `export default { agents: [{ name: 'Anna', instructions: 'You wait.' }] };`;
  await using own = await makeFolder({ 'lastcall.config.ts': text });
  await using dev = Program.lastcall(['dev', '--json'], { folder: own.path, env });
  await dev.prints(/"event":"listening"/);
  await rename(join(own.path, 'lastcall.config.ts'), join(own.path, 'away.ts'));
  await dev.prints(/There is no configuration now\. It starts again when there is one\./);
  await rename(join(own.path, 'away.ts'), join(own.path, 'lastcall.config.ts'));
  const [, url = ''] = await dev.prints(/(?:[\s\S]*?"event":"listening","url":"(http[^"]+)"){2}/);
  const { items } = await new DemoSpace(url).ask('/api/agents');
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['Anna']);
});

test('[S12] if dev is killed, its gateway stops too', async () => {
  await using own = await makeFolder({ 'lastcall.config.ts': 'export default { agents: [] };' });
  await using dev = Program.lastcall(['dev', '--json'], { folder: own.path, env });
  await dev.prints(/"event":"listening"/);
  dev.send('SIGKILL');
  // The gateway has the same output, which is closed when both have ended.
  expect(await dev.ended).toMatchObject({ signal: 'SIGKILL' });
});

async function write(folder: string, name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}
