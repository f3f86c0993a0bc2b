import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HookScheme } from '../../config/hook-config.ts';
import { ApiError } from '../api-error.ts';
import { verifyWebhook } from '../calls/webhook-signature.ts';

export interface SignedRequest {
  readonly headers: Headers;
  /** Exactly the bytes that were received. */
  readonly body: Uint8Array;
  /** One of these must have signed it. */
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The headers that each scheme needs. */
const HEADERS: Readonly<Record<HookScheme, readonly string[]>> = {
  standard: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  github: ['x-hub-signature-256', 'x-github-delivery', 'x-github-event'],
  stripe: ['stripe-signature'],
  slack: ['x-slack-signature', 'x-slack-request-timestamp'],
};

/** Throws for a request that cannot be genuine, whatever its body is. */
export function assertSignatureHeaders(scheme: HookScheme, headers: Headers): void {
  const missing = HEADERS[scheme].filter((name) => (headers.get(name) ?? '') === '');
  if (missing.length > 0) throw refused(`The header ${missing.join(', ')} is missing.`);
}

/** Throws unless one of the secrets signed the body and, where the scheme has a time, the time is within five minutes of ours. */
export async function assertSigned(scheme: HookScheme, request: SignedRequest): Promise<void> {
  assertSignatureHeaders(scheme, request.headers);
  const problem = await PROBLEMS[scheme](request);
  if (problem !== undefined) throw refused(problem);
}

type ProblemOf = (request: SignedRequest) => string | undefined | Promise<string | undefined>;

const PROBLEMS: Readonly<Record<HookScheme, ProblemOf>> = { standard, github, stripe, slack };

async function standard({ headers, ...request }: SignedRequest): Promise<string | undefined> {
  const verified = await verifyWebhook({
    ...request,
    headers: Object.fromEntries(HEADERS.standard.map((name) => [name, headers.get(name) ?? undefined])),
    // Repetitions are recognised in the transaction that stores the event.
    isNew: () => true,
  });
  return verified.ok ? undefined : verified.problem;
}

function github({ headers, body, secrets }: SignedRequest): string | undefined {
  const given = [signatureIn(headers.get('x-hub-signature-256'), 'sha256=')];
  return isSigned({ secrets, given, signed: [body] }) ? undefined : UNSIGNED;
}

function stripe({ headers, body, secrets, now }: SignedRequest): string | undefined {
  const parts = (headers.get('stripe-signature') ?? '').split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t='));
  const [time = ''] = times.map((part) => part.slice('t='.length));
  const late = times.length === 1 ? timeProblem(time, now) : 'Stripe-Signature must have one time.';
  const given = parts.map((part) => signatureIn(part, 'v1='));
  return late ?? (isSigned({ secrets, given, signed: [`${time}.`, body] }) ? undefined : UNSIGNED);
}

function slack({ headers, body, secrets, now }: SignedRequest): string | undefined {
  const time = headers.get('x-slack-request-timestamp') ?? '';
  const given = [signatureIn(headers.get('x-slack-signature'), 'v0=')];
  const late = timeProblem(time, now);
  return late ?? (isSigned({ secrets, given, signed: [`v0:${time}:`, body] }) ? undefined : UNSIGNED);
}

const UNSIGNED = 'No known secret has signed it.';
const TOLERANCE_SECONDS = 300;

function timeProblem(time: string, now: number): string | undefined {
  // Number() would also take "1e9" and " 1 ".
  if (!/^\d{1,12}$/.test(time)) return 'Its time must be a number of seconds.';
  const isClose = Math.abs(now / 1_000 - Number(time)) <= TOLERANCE_SECONDS;
  return isClose ? undefined : 'It is more than 5 minutes old, or from the future.';
}

/** The bytes of `sha256=<hex>` and the like. Undefined if it is something else. */
function signatureIn(text: string | null, prefix: string): Buffer | undefined {
  const hex = text?.startsWith(prefix) === true ? text.slice(prefix.length) : '';
  return /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, 'hex') : undefined;
}

interface Claimed {
  readonly secrets: readonly string[];
  readonly given: readonly (Buffer | undefined)[];
  readonly signed: readonly (string | Uint8Array)[];
}

/** Compares every secret with every signature in constant time, so that the timing tells nothing about them. */
function isSigned({ secrets, given, signed }: Claimed): boolean {
  const expected = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret);
    for (const part of signed) hmac.update(part);
    return hmac.digest();
  });
  const matches = given.flatMap((one) =>
    one === undefined ? [] : expected.filter((other) => timingSafeEqual(one, other)),
  );
  return matches.length > 0;
}

function refused(problem: string): ApiError {
  return new ApiError('invalid_signature', `The signature is not valid: ${problem} Nothing was stored.`);
}
