import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Reports which files of the MCP package are loaded: by an agent without servers, then by one that uses a server. */
const SCRIPT = `
import { registerHooks } from 'node:module';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
let isLoaded = false;
registerHooks({ load(url, context, next) {
  if (url.includes('@modelcontextprotocol')) isLoaded = true;
  return next(url, context);
} });
const server = { name: 'gone', transport: 'stdio', command: '/nowhere/at/all' };
const gateway = await startTestGateway({ agents: [
  { name: 'Plain', instructions: '' },
  { name: 'Other', instructions: '', mcp: { servers: [server] } },
] });
const agents = (await gateway.api('/api/agents')).items;
const run = async (name) => {
  const { id } = agents.find((one) => one.name === name);
  await gateway.api('/api/agents/' + id + '/events', { source: 'test', name: 'go' });
  await waitFor(async () => (await gateway.api('/api/runs?agentId=' + id)).items.some((one) => one.status !== 'running'));
};
await run('Plain');
const withoutServers = isLoaded;
await run('Other');
console.log(JSON.stringify({ withoutServers, withServers: isLoaded }));
await gateway.stop();
process.exit(0);
`;

test('the MCP package is loaded when an agent first uses a server, and not before', async () => {
  // This runs the published bundle, because a module that is loaded late from source might be loaded early in a bundle.
  const args = ['--input-type=module', '--eval', SCRIPT];
  const cwd = new URL('..', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(JSON.parse(stdout)).toEqual({ withoutServers: false, withServers: true });
});
