import { readFile } from 'node:fs/promises';
import { startTestGateway } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { printWire } from '../scripts/print-wire.ts';

test("[S10] the client's types are those of the gateway's own schemas", async () => {
  await using gateway = await startTestGateway();
  const printed = printWire(await gateway.api('/openapi.json'));
  // To fix it: npm run wire -w packages/client
  expect(await readFile(new URL('../src/wire.generated.ts', import.meta.url), 'utf8')).toBe(printed);
});
