import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { startConformanceGateway } from './conformance-gateway.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** The suite ignores an answer after more than half a second, so a busy machine would fail. The test below waits for the answer. */
const TIMED = [
  'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
  'server-stateless:sep-2575-server-no-log-without-loglevel',
];

describe('the official conformance suite', () => {
  test.concurrent.each(['2025-11-25', '2026-07-28'])(
    '[X19] the gateway passes the requirements of revision %s, except for the list of expected failures',
    async (revision) => {
      await using gateway = await startConformanceGateway();
      const expected = fileURLToPath(new URL(`conformance-${revision}.yaml`, import.meta.url));
      const args = ['server', '--url', gateway.url, '--requirements', revision, '--expected-failures', expected];
      const { stdout } = await promisify(execFile)(process.execPath, [SUITE, ...args]).catch((failure) => failure);
      expect(stdout).toContain('Expected failures (in baseline)');
      expect(listed(stdout, 'Unexpected failures').filter((name) => !TIMED.includes(name))).toEqual([]);
      expect(listed(stdout, 'Stale baseline entries')).toEqual([]);
    },
  );

  test.each([
    ['test_streaming_elicitation', 'no request of the server: a question is the result of the call'],
    ['test_tool_with_logging', 'no log messages, which it did not ask for'],
  ])('[X19] the stream of a call of %s has %s', async (name) => {
    await using gateway = await startConformanceGateway();
    const streams: Promise<string>[] = [];
    const noting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (String(init?.body).includes(`"${name}"`)) streams.push(response.clone().text());
      return response;
    };
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: {} } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { fetch: noting }));
    const options = { allowInputRequired: true, onprogress: () => {} } as const;
    await client.callTool({ name, arguments: {} }, options);
    const told = messagesOf((await Promise.all(streams)).join('\n'));
    await client.close();
    expect(streams).toHaveLength(1);
    expect(told.at(-1)).toHaveProperty('result');
    expect(new Set(told.slice(0, -1).map(({ method }) => method))).toEqual(new Set(['notifications/progress']));
  });
});

/** The messages of a response in server-sent events. */
function messagesOf(stream: string): readonly { readonly method?: string }[] {
  const data = stream.split('\n').filter((line) => line.startsWith('data: '));
  return data
    .map((line) => line.slice('data: '.length))
    .filter((text) => text.trim() !== '')
    .map((text) => JSON.parse(text));
}

/** The entries under a heading of the suite's report. */
function listed(report: string, heading: string): string[] {
  const lines = report.split('\n');
  const start = lines.findIndex((line) => line.includes(`${heading} (`));
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith('  '));
  return rest.slice(0, end).map((line) => line.trim().replace(/^\S+ /, ''));
}
