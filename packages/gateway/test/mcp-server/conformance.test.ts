import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startConformanceGateway } from './conformance-gateway.ts';

const SUITE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');

describe('the official conformance suite', () => {
  test.concurrent.each(['2025-11-25', '2026-07-28'])(
    '[X19] the gateway passes what the revision %s requires, but for the written list of expected failures',
    async (revision) => {
      await using gateway = await startConformanceGateway();
      const expected = fileURLToPath(new URL(`conformance-${revision}.yaml`, import.meta.url));
      const args = ['server', '--url', gateway.url, '--requirements', revision, '--expected-failures', expected];
      const { stdout } = await promisify(execFile)(process.execPath, [SUITE, ...args]).catch((failure) => failure);
      expect(stdout).toContain('Baseline check passed');
    },
  );
});
