import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Logger } from '@lastcall/core';
import type { Found, Gateway } from '@lastcall/gateway';
import {
  checkConfig,
  createCheckedGateway,
  createLogger,
  createRedact,
  demoConfig,
  KnownSecrets,
  loadConfig,
  logProcess,
  secretValues,
  withPace,
} from '@lastcall/gateway/internal';
import { logLine } from './terminal/log-line.ts';

export interface RunGatewayOptions {
  /**
   * True: every line is JSON. False: every line is for people. Undefined: JSON lines, then the address as a sentence.
   */
  readonly json: boolean | undefined;
  /** Kills this process; the supervisor starts it again. Only the demo has it. */
  readonly crash?: ((url: string) => void) | undefined;
}

/** Starts the gateway of this folder, which runs until a signal stops it. Resolves once it listens. */
export async function runGateway({ json, crash }: RunGatewayOptions): Promise<Gateway> {
  const redact = createRedact(new KnownSecrets(secretValues(process.env, { secretKey: undefined, secrets: [] })));
  // Ctrl+C also ends the `tee` of `lastcall start | tee log`. The gateway still has to finish its runs, without a log.
  process.stdout.removeAllListeners('error').on('error', () => {});
  // All lines go through this function. With two writers, the address might not be the last line.
  const write = (line: string): void => void process.stdout.write(json === false ? `${logLine(line)}\n` : line);
  const log = { destination: { write }, texts: json === false };
  const logger = createLogger({ redact, ...log });
  logProcess(logger);
  const { file, config } = await loadConfig(process.cwd());
  const isDemo = file === undefined;
  const canCrash = isDemo && crash !== undefined;
  const gateway: Gateway = createCheckedGateway(
    isDemo ? checkConfig(demoConfig({ canCrash, bankFile: canCrash ? bankFile() : undefined })) : config,
    {
      log,
      ...(canCrash ? { crash: () => crash(gateway.url) } : {}),
      ...(isDemo ? { tapModel: withPace } : {}),
    },
  );
  await gateway.start();
  // The supervisor passes Ctrl+C on as SIGTERM: see demo/supervise.ts.
  const signals = crash === undefined ? (['SIGTERM', 'SIGINT'] as const) : (['SIGTERM'] as const);
  for (const signal of signals) process.once(signal, () => void stop(gateway));
  const configuration = isDemo ? undefined : basename(file);
  const link = mayShowLink({ json, isDemo }) ? await gateway.signInLink() : undefined;
  if (json === false) print(foundInWords(gateway.found, configuration));
  else
    logger.info('Found', { event: 'found', configuration: configuration ?? 'none: the demo runs', ...gateway.found });
  sayWhere(gateway, { isJson: json === true, logger, link });
  return gateway;
}

/** The supervisor stays when the gateway is crashed, so its id names the same book before and after. */
function bankFile(): string {
  return join(tmpdir(), `lastcall-demo-bank-${process.ppid}.txt`);
}

/**
 * Whether the sign-in link may be printed. Output of a pipe is stored and read by others, so the link is only for
 * terminals. The demo has nothing to protect and shows it always, so that its users can open it at once.
 */
function mayShowLink({ json, isDemo }: { json: boolean | undefined; isDemo: boolean }): boolean {
  return json !== true && (process.stdout.isTTY || isDemo);
}

interface Saying {
  readonly isJson: boolean;
  readonly logger: Logger;
  readonly link: string | undefined;
}

/** Prints the address last, because people look at the last line. */
function sayWhere({ url, firstKey }: Gateway, { isJson, logger, link }: Saying): void {
  if (firstKey !== undefined) print(isJson ? keyAsJson(firstKey) : keyInWords(firstKey));
  if (isJson) logger.info(`Lastcall listens on ${url}`, { event: 'listening', url });
  else print(`Lastcall listens on ${url}`);
  if (link !== undefined) print(`Open ${link} (signs in once, 15 minutes)`);
}

function keyInWords(key: string): string {
  return `Your secret key (shown only once): ${key}\nCommands find it in LASTCALL_SECRET_KEY: in the environment, or in a file .env.`;
}

/** Not logged, because the logger would redact the key. */
function keyAsJson(key: string): string {
  return JSON.stringify({ msg: 'Your secret key (shown only once)', details: { event: 'key', key } });
}

function foundInWords({ store, model, agents, tools, spaces }: Found, configuration: string | undefined): string {
  const from = configuration ?? 'No lastcall.config.ts: running the demo';
  const counted = [count(agents, 'agent'), count(tools, 'tool'), count(spaces, 'space')].join(', ');
  return `${from}, ${store}, model ${model.name} (${model.why}), ${counted}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

async function stop(gateway: Gateway): Promise<void> {
  await gateway.stop();
  process.exit(0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
