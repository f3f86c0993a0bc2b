import { EgressRefused } from '../../ports/egress/egress-refused.ts';

/** An attempt that failed. The message is ours, without texts of the target: it is stored, and shown to operators. */
export class SendFailure extends Error {
  override readonly name: string = 'SendFailure';
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { retryAfterMs, cause }: { retryAfterMs?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

export function toSendFailure(error: unknown, { timeoutMs }: { readonly timeoutMs: number }): SendFailure {
  if (error instanceof SendFailure) return error;
  // Its message names the host and the reason, and nothing else.
  const refused = findCause(error, (one) => one instanceof EgressRefused);
  if (refused instanceof EgressRefused) return new SendFailure(refused.message, { cause: error });
  const timedOut = findCause(error, (one) => (one as { name?: unknown }).name === 'TimeoutError');
  if (timedOut !== undefined)
    return new SendFailure(`It did not answer within ${timeoutMs / 1_000} s.`, { cause: error });
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
  if (typeof responseCode === 'number')
    return new SendFailure(`The mail server answered ${responseCode}.`, { cause: error });
  const known = typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : '';
  const what = REACHED.has(String(code)) ? 'It answered, but the message could not be sent' : 'It could not be reached';
  return new SendFailure(`${what}${known}.`, { cause: error });
}

/** Codes of the mail library for what happens once there is a connection. */
const REACHED: ReadonlySet<string> = new Set(['EAUTH', 'EENVELOPE', 'EMESSAGE', 'EPROTOCOL', 'ETLS']);

function findCause(error: unknown, isWanted: (one: object) => boolean): unknown {
  for (let one = error, depth = 0; typeof one === 'object' && one !== null && depth < 5; depth++) {
    if (isWanted(one)) return one;
    one = (one as { cause?: unknown }).cause;
  }
  return undefined;
}
