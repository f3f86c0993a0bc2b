import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Starts a gateway with a tool that calls a URL, uses everything except the tool, then makes one connection. */
const SCRIPT = `
import { createRequire } from 'node:module';
import { startTestGateway } from '@lastcall/gateway/testing';
import { createEgress } from '../src/ports/egress/egress.ts';
const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => /[/]undici[/]/.test(file));
const tools = { ask: { executionType: 'gateway', execution: { url: 'https://a.test/' } } };
const gateway = await startTestGateway({ tools, agents: [{ name: 'A', instructions: '', tools: ['ask'] }] });
await gateway.api('/api/agents');
const atStart = loaded();
await createEgress().request({ url: 'http://127.0.0.1/' }).catch(() => {});
console.log(JSON.stringify({ atStart, withTheFirstRequest: loaded() }));
await gateway.stop();
process.exit(0);
`;

test('the HTTP client is loaded with the first request, not when the gateway starts', async () => {
  const args = ['--conditions=@lastcall/source', '--input-type=module', '--eval', SCRIPT];
  const cwd = new URL('..', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  expect(JSON.parse(stdout)).toEqual({ atStart: false, withTheFirstRequest: true });
});
