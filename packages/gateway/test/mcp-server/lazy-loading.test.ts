import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Reports whether the MCP package is loaded: after other requests, and then after an MCP request. */
const SCRIPT = `
import { registerHooks } from 'node:module';
import { startTestGateway } from '@lastcall/gateway/testing';
let isLoaded = false;
registerHooks({ load(url, context, next) {
  if (url.includes('@modelcontextprotocol')) isLoaded = true;
  return next(url, context);
} });
const gateway = await startTestGateway({ agents: [{ name: 'Plain', instructions: '' }] });
await gateway.api('/api/tools');
await gateway.api('/openapi.json');
const before = isLoaded;
await gateway.request('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' });
console.log(JSON.stringify({ before, after: isLoaded }));
await gateway.stop();
process.exit(0);
`;

test('the package of the MCP server is loaded with the first request to it, and not before', async () => {
  // This runs the published bundle, because a module that is loaded late from source might be loaded early in a bundle.
  const args = ['--input-type=module', '--eval', SCRIPT];
  const cwd = new URL('..', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(JSON.parse(stdout)).toEqual({ before: false, after: true });
});
