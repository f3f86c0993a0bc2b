import { setTimeout as sleep } from 'node:timers/promises';
import { type AnyTool, fail, ok, type ToolContext } from '@lastcall/core';
import { backoffMs, dataTool, remainingMs } from '@lastcall/core/internal';
import { dataSchemas } from '../../../config/data-schema.ts';
import { type HttpExecution, readHttpExecution } from '../../../config/http-execution.ts';
import type { ToolConfig } from '../../../config/tool-config.ts';
import { signWebhook } from '../../../domain/calls/webhook-signature.ts';
import type { Egress, EgressResponse } from '../../../ports/egress/egress.ts';
import { isNeverSent } from '../../../ports/egress/never-sent.ts';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import type { Secrets } from '../../../telemetry/secrets.ts';
import { readResponse } from './read-response.ts';
import { type FilledRequest, requestTemplate } from './request-template.ts';
import { retryAfterMs } from './retry-after.ts';

/** What tools use to reach external services. */
export interface Outgoing {
  readonly egress: Egress;
  readonly secrets: Secrets;
}

const DEFAULT_TIMEOUT_MS = 30_000;

interface HttpTool {
  readonly tool: AnyTool;
  /** The time limit of a call, including all attempts. */
  readonly timeoutMs: number;
  /** The default that a configuration can override. If absent, the tool acts outside. */
  readonly effects?: 'none';
}

/** A tool that calls a URL. */
export function httpTool(config: ToolConfig, { egress, secrets }: Outgoing): HttpTool {
  const execution = readHttpExecution(config.execution ?? {});
  const fill = requestTemplate(execution);
  const { known } = secrets;
  const hasSchema = config.outputSchema !== undefined;
  const execute = async (input: unknown, ctx: ToolContext): Promise<unknown> => {
    // Everything is filled in before anything is sent: a secret that may not be used fails without any traffic.
    const request = fill({ input, secret: (name) => secrets.read(name) });
    const keys = execution.signingSecrets.map((text) => secrets.read(text.slice('${env.'.length, -1)));
    const send = (): Promise<Attempt> =>
      attempt(egress, withHeaders(request, ctx, keys), { known, hasSchema, signal: ctx.abortSignal });
    return await sendUntilDone(send, { isRepeatable: config.idempotent === true, ctx });
  };
  const made = dataTool({ description: config.description, ...dataSchemas(config), execute });
  const timeoutMs = config.timeoutMs ?? execution.timeout ?? DEFAULT_TIMEOUT_MS;
  return { tool: made, timeoutMs, ...(onlyReads(config, execution) ? { effects: 'none' } : {}) };
}

/**
 * By HTTP's rules, `GET` and `HEAD` only read. But a webhook or a signature tells a server that something happened, and
 * a tool with approval is important: those act outside.
 */
function onlyReads({ execution: given, approval }: ToolConfig, { method, signingSecrets }: HttpExecution): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && given?.webhookUrl === undefined && signingSecrets.length === 0 && approval !== true;
}

/** How one attempt ended. `status` is undefined if the connection failed. */
interface Attempt {
  readonly result: unknown;
  readonly mayRetry: boolean;
  readonly status?: number;
  readonly retryAfter?: string | undefined;
}

async function sendUntilDone(
  send: () => Promise<Attempt>,
  { isRepeatable, ctx }: { readonly isRepeatable: boolean; readonly ctx: ToolContext },
): Promise<unknown> {
  for (let count = 1; ; count++) {
    const ended = await send();
    const waitMs =
      isRepeatable && ended.mayRetry ? retryWaitMs(ended, { attempt: count, leftMs: remainingMs(ctx) }) : undefined;
    if (waitMs === undefined) return ended.result;
    await sleep(waitMs, undefined, { signal: ctx.abortSignal });
  }
}

/** The key is the same for every attempt, also after a restart. A server that supports it acts once. */
function withHeaders(request: FilledRequest, { idempotencyKey }: ToolContext, keys: readonly string[]): FilledRequest {
  const signature =
    keys.length === 0 ? {} : signWebhook({ id: idempotencyKey, body: request.body ?? '', secrets: keys });
  return { ...request, headers: { 'idempotency-key': idempotencyKey, ...request.headers, ...signature } };
}

interface Reading {
  readonly known: KnownSecrets;
  readonly hasSchema: boolean;
  readonly signal: AbortSignal;
}

async function attempt(egress: Egress, request: FilledRequest, reading: Reading): Promise<Attempt> {
  const { host } = request.url;
  const { known, signal } = reading;
  try {
    const response = await egress.request({ ...request, signal, holdsSecret: (text) => known.isIn(text) });
    return await toAttempt(response, host, reading);
  } catch (error) {
    // The call was aborted from outside, and core reports how.
    if (signal.aborted) throw error;
    const { code, message } = error as { code?: unknown; message: string };
    if (code === 'egress_refused') return { result: fail(known.removeFrom(message), { code }), mayRetry: false };
    return { result: fail(known.removeFrom(connectionFailure(host, error))), mayRetry: true };
  }
}

async function toAttempt(
  { status, headers, body }: EgressResponse,
  host: string,
  { known, hasSchema }: Reading,
): Promise<Attempt> {
  const value = await readResponse({ body, contentType: oneOf(headers['content-type']), hasSchema }, known);
  if (status >= 200 && status < 300) {
    // To a model, an empty result would look as if the tool had not answered.
    const result = value === '' ? ok(null, `HTTP ${status}, with an empty body.`) : value;
    return { result, status, mayRetry: false };
  }
  const message = `HTTP ${status} from ${host}${shortBody(value)}`;
  return { result: fail(message), status, mayRetry: true, retryAfter: oneOf(headers['retry-after']) };
}

const SHORT_BODY = 500;

function shortBody(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value);
  if (text === '') return '.';
  return `: ${text.length > SHORT_BODY ? `${text.slice(0, SHORT_BODY).toWellFormed()}…` : text}`;
}

function connectionFailure(host: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const why = typeof code === 'string' ? code : String(message);
  const sent = isNeverSent(error) ? 'Nothing was sent.' : 'The request may have arrived: check before you repeat it.';
  return `The connection to ${host} failed (${why}). ${sent}`;
}

function oneOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

const MOST_ATTEMPTS = 3;
const FIRST_WAIT_MS = 250;

/**
 * How long to wait before a request is repeated, or undefined if it is not repeated: there were enough attempts, the
 * answer will not change, or the call would time out first.
 */
function retryWaitMs(
  failure: { readonly status?: number | undefined; readonly retryAfter?: string | undefined },
  { attempt, leftMs }: { readonly attempt: number; readonly leftMs: number | undefined },
): number | undefined {
  const { status, retryAfter } = failure;
  if (attempt >= MOST_ATTEMPTS || (status !== undefined && status !== 429 && status < 500)) return undefined;
  const backoff = backoffMs(attempt, { firstMs: FIRST_WAIT_MS }) * (0.5 + Math.random() / 2);
  const waitMs = Math.max(backoff, retryAfterMs(retryAfter) ?? 0);
  return leftMs !== undefined && waitMs >= leftMs ? undefined : waitMs;
}
