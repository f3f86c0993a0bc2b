import type { Logger } from '@lastcall/core';
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config/settings.ts';
import { createRedact, type Redact } from './redact.ts';

export interface LoggerOptions {
  /** Default 'info'. */
  readonly level?: LogLevel;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
  /** Default: removes everything that looks like a secret. */
  readonly redact?: Redact;
  /** Whether log lines about messages contain their text. Default false: conversations do not belong in the log of a server. */
  readonly texts?: boolean;
}

/**
 * Writes one JSON object per line. Fields that are known to carry secrets are removed, wherever they are in the
 * details.
 */
export function createLogger({
  level = 'info',
  destination,
  redact = createRedact(),
  texts = false,
}: LoggerOptions = {}): Logger {
  const sink = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(1),
  );
  const write =
    (method: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, details?: unknown): void => {
      // Lines below the log level are not searched for secrets.
      if (!sink.isLevelEnabled(method)) return;
      if (details === undefined) sink[method](redact(message));
      else sink[method]({ details: toLoggable(texts ? details : withoutText(details), redact) }, redact(message));
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function withoutText(details: unknown): unknown {
  const { event, text, ...others } = (details ?? {}) as Readonly<Record<string, unknown>>;
  return event === 'message' && text !== undefined ? { event, ...others } : details;
}

const SECRET = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-?key|password|secret|token)$/i;
const REDACTED = '[redacted]';
const DEEPEST = 6;
const WIDEST = 100;

/** Converts a value to plain data of bounded depth and width, so that logging neither fails nor fills the disk. */
function toLoggable(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value).slice(0, 10_000);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? '[function]' : value;
  if (depth === DEEPEST) return '[deeper]';
  if (value instanceof Error) return errorFields(value, redact, depth);
  if (Array.isArray(value)) return value.slice(0, WIDEST).map((one) => toLoggable(one, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, WIDEST)
      .map(([key, one]) => [key, SECRET.test(key) ? REDACTED : toLoggable(one, redact, depth + 1)]),
  );
}

function errorFields(error: Error, redact: Redact, depth: number): unknown {
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name,
    message: toLoggable(message, redact, depth + 1),
    ...(code === undefined ? {} : { code: toLoggable(code, redact, depth + 1) }),
    stack: toLoggable(stack, redact, depth + 1),
    ...(cause === undefined ? {} : { cause: toLoggable(cause, redact, depth + 1) }),
  };
}
