import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../support/scratch-folder.ts';
import { doDuties } from './answering.ts';
import { ask, SECRET_KEY } from './api.ts';
import { CONFIG_FILE, openSite, say } from './site.ts';
import { until } from './until.ts';

const script = new URL('./order-server.ts', import.meta.url).pathname;

/** The same program for an agent of the file and for agents of the API. The second call of a tool is answered. */
async function orderProgram() {
  const log = join(await scratchFolder('programs'), 'log');
  await writeFile(log, 'look\n');
  return { name: 'shop', transport: 'stdio', command: process.execPath, args: [script, log] } as const;
}

const configWith = (...servers: readonly object[]): string => `
import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
const servers = ${JSON.stringify(servers)};
export default { ...processConfig, agents: processConfig.agents.map((agent) => ({ ...agent, mcp: { servers } })) };
`;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function send(
  url: string,
  path: string,
  { method = 'POST', ...body }: { method?: string; [name: string]: unknown },
) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${SECRET_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { error?: { code: string; details?: { path?: string } } };
  return [response.status, answer.error?.details?.path];
}

test('[X28] an admin key cannot make a program of the file run other code: new and changed agents are refused, with the path, and nothing runs', async () => {
  const program = await orderProgram();
  const inFile = { ...program, env: { MODE: 'plain', LD_LIBRARY_PATH: '/opt/lib' } };
  await using site = await openSite({ decide: doDuties, config: configWith(inFile) });
  const { url } = await site.start('a');
  const marker = join(site.folder, 'it-ran');
  const code = `import fs from "node:fs"; fs.writeFileSync(${JSON.stringify(marker)}, "")`;
  const attacks: readonly (readonly [Record<string, string>, string])[] = [
    [{ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }, 'NODE_OPTIONS'],
    [{ node_options: '--inspect' }, 'node_options'],
    [{ LD_LIBRARY_PATH: '/tmp/mine' }, 'LD_LIBRARY_PATH'],
    [{ MODE: 'other', PATH: '/tmp/mine' }, 'PATH'],
    [{ MODE: 'other', UNLISTED: 'x' }, 'UNLISTED'],
  ];
  const { items } = await ask(url, '/api/agents');
  const anna = items.find(({ name }: { name: string }) => name === 'Anna');
  for (const [env, name] of attacks) {
    const servers = [program, { ...program, name: 'more', env }];
    const nested = { mcp: { servers } };
    const refused = [422, `mcp.servers[1].env.${name}`];
    expect(await send(url, '/api/agents', { name: 'Eve', instructions: '', ...nested })).toEqual(refused);
    expect(await send(url, `/api/agents/${anna.id}`, { method: 'PATCH', ...nested })).toEqual(refused);
    const flat = await send(url, '/api/agents', { name: 'Eve', instructions: '', mcpServers: servers });
    expect(flat).toEqual([422, `mcpServers[1].env.${name}`]);
  }
  // The variables that the file sets, and values for names that it lists, may be set again.
  const mine = { mcp: { servers: [{ ...inFile, env: { ...inFile.env, MODE: 'other' } }] } };
  expect(await send(url, `/api/agents/${anna.id}`, { method: 'PATCH', ...mine })).toEqual([200, undefined]);
  await say(url, 'North', 'Anna: shop__look m1');
  const outcome = await until('the call', async () => {
    const called = site.db.selectFrom('calls').select('outcome').where('tool_name', '=', 'shop__look');
    return (await called.executeTakeFirst())?.outcome ?? undefined;
  });
  expect(outcome).toContain('done');
  expect(await exists(marker)).toBe(false);
});

test('[X28] a program that the file no longer names is not started for an agent of the API either', async () => {
  const program = await orderProgram();
  await using site = await openSite({ decide: doDuties, config: configWith(program) });
  const first = await site.start('a');
  await ask(first.url, '/api/agents', { name: 'Dora', instructions: '', mcp: { servers: [program] } });
  await first.kill();
  await writeFile(join(site.folder, CONFIG_FILE), configWith());
  const { url } = await site.start('b');
  const { items } = await ask(url, '/api/agents');
  const dora = items.find(({ name }: { name: string }) => name === 'Dora');
  await ask(url, `/api/agents/${dora.id}/events`, { source: 'test', name: 'ask' });
  const servers = async () => (await ask(url, '/api/mcp/servers')).items;
  const [server] = await until('the server is down', async () => {
    const found = await servers();
    return found[0]?.status === 'down' && found;
  });
  expect(server.problem).toContain('is not started: command');
});
