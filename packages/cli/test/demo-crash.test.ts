import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { makeFolder } from './support/folder.ts';
import { lastcall } from './support/program.ts';

test('[S19] demo crash kills a gateway during a payment, and another finishes it: paid once, settled once, reported once', async () => {
  await using own = await makeFolder();
  const { code, out, err } = await lastcall(['demo', 'crash', '--json'], { folder: own.path });
  const report = JSON.parse(out);
  expect(report).toMatchObject({
    payments: [{ invoice: 'A-17', euros: 40, receipt: 'R-1' }],
    requests: 2,
    settlements: [{ status: 'ok' }],
    messages: [expect.stringContaining('R-1')],
  });
  expect(report.killed).not.toBe(report.takenOverBy);
  expect(err).toContain(`kill -9 ${report.killed}`);
  expect(code).toBe(0);
  expect(await readdir(own.path)).toEqual([]);
});
