import { writeFile } from 'node:fs/promises';
import { startTestGateway } from '@lastcall/gateway/testing';
import { printWire } from './print-wire.ts';

await using gateway = await startTestGateway();
const text = printWire(await gateway.api('/openapi.json'));
await writeFile(new URL('../src/wire.generated.ts', import.meta.url), text);
