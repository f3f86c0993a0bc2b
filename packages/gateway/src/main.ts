import { LastcallError } from '@lastcall/core';
import { loadConfig } from './config/load-config.ts';
import { demoConfig } from './demo.ts';
import { createCheckedGateway, createGateway, type Gateway } from './gateway.ts';
import { KnownSecrets } from './telemetry/known-secrets.ts';
import { logProcess } from './telemetry/log-process.ts';
import { createLogger } from './telemetry/logger.ts';
import { createRedact, secretValues } from './telemetry/redact.ts';

const redact = createRedact(new KnownSecrets(secretValues(process.env, { secretKey: undefined, secrets: [] })));

/** `npm start`: runs the gateway of this folder until it is told to stop. */
async function main(): Promise<void> {
  logProcess(createLogger({ redact }));
  const { file, config } = await loadConfig(process.cwd());
  const gateway = file === undefined ? createGateway(demoConfig()) : createCheckedGateway(config);
  await gateway.start();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(gateway));
  print(`Lastcall listens on ${gateway.url} (API: ${gateway.url}/openapi.json).`);
  if (file === undefined) print('No lastcall.config.ts found: running the demo, with one agent and one space.');
  if (gateway.firstKey !== undefined)
    print(
      `Your secret key (shown only once): ${gateway.firstKey}\nStore it safely. Create more keys with POST ${gateway.url}/api/keys.`,
    );
}

async function stop(gateway: Gateway): Promise<void> {
  await gateway.stop();
  process.exit(0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  await main();
} catch (error) {
  // Our own errors say what to do. A stack would hide that.
  const reason = error instanceof LastcallError ? error.message : String((error as Error)?.stack ?? error);
  process.stderr.write(`${redact(reason)}\n`);
  process.exit(1);
}
