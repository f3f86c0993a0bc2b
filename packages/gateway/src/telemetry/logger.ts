import type { Logger } from '@lastcall/core';
import { type DestinationStream, pino } from 'pino';
import type { LogLevel } from '../config/settings.ts';
import { hideFrameIds } from '../inbox/hide-tag.ts';

export interface LoggerOptions {
  /** Default 'info'. */
  readonly level?: LogLevel;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** One JSON object a line. What is known to carry a secret is struck out, wherever it stands in the details. */
export function createLogger({ level = 'info', destination }: LoggerOptions = {}): Logger {
  const sink = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(1),
  );
  const write =
    (method: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, details?: unknown): void => {
      const text = toSafeText(message);
      if (details === undefined) sink[method](text);
      else sink[method]({ details: toLoggable(details) }, text);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

const SECRET = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-?key|password|secret|token)$/i;
// A key in a URL or in a text: a log outlives the request it tells of.
const SECRET_TEXT = /\blc_sk_[\w-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bBearer\s+\S+/g;
const REDACTED = '[redacted]';
const DEEPEST = 6;
const WIDEST = 100;

function toSafeText(text: string): string {
  return hideFrameIds(text.replace(SECRET_TEXT, REDACTED)).slice(0, 10_000);
}

/** Plain data of bounded depth and width: whatever is logged, logging it neither fails nor fills the disk. */
function toLoggable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return toSafeText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? '[function]' : value;
  if (depth === DEEPEST) return '[deeper]';
  if (value instanceof Error) return errorFields(value, depth);
  if (Array.isArray(value)) return value.slice(0, WIDEST).map((one) => toLoggable(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, WIDEST)
      .map(([key, one]) => [key, SECRET.test(key) ? REDACTED : toLoggable(one, depth + 1)]),
  );
}

function errorFields(error: Error, depth: number): unknown {
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    name,
    message: toLoggable(message, depth + 1),
    ...(code === undefined ? {} : { code: toLoggable(code, depth + 1) }),
    stack: toLoggable(stack, depth + 1),
    ...(cause === undefined ? {} : { cause: toLoggable(cause, depth + 1) }),
  };
}
