import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startConformanceGateway } from './conformance-gateway.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** The suite takes an answer that needs more than half a second for none. A busy machine says nothing about the gateway. */
const TIMED = [
  'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
  'server-stateless:sep-2575-server-no-log-without-loglevel',
];

describe('the official conformance suite', () => {
  test.concurrent.each(['2025-11-25', '2026-07-28'])(
    '[X19] the gateway passes what the revision %s requires, but for the written list of expected failures',
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
});

/** The entries under a heading of the suite's report. */
function listed(report: string, heading: string): string[] {
  const lines = report.split('\n');
  const start = lines.findIndex((line) => line.includes(`${heading} (`));
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !line.startsWith('  '));
  return rest.slice(0, end).map((line) => line.trim().replace(/^\S+ /, ''));
}
