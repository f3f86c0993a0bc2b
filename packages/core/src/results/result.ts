import { LastcallError } from '../errors.ts';

/** What a tool may return instead of a plain value, to say more than the value. */
export type ToolResult<O = unknown> = OkResult<O> | FailResult | PendingResult | ReplyResult;

// A symbol, because a result that arrived as JSON must never be mistaken for one of ours; a registered one, so that two
// copies of this package understand each other; an enumerable property, so that a spread copy is still a result.
const RESULT: unique symbol = Symbol.for('lastcall.result') as never;

interface Branded {
  readonly [RESULT]: true;
}

export interface OkResult<O = unknown> extends Branded {
  readonly status: 'ok';
  readonly value: O;
  readonly message: string;
  readonly excludeValueFromContext?: true;
  readonly final?: true;
}

export interface FailResult extends Branded {
  readonly status: 'error';
  readonly code: string;
  readonly message: string;
  readonly value?: unknown;
}

export interface PendingResult extends Branded {
  readonly status: 'pending';
  readonly expiresInMs?: number;
  readonly onExpiry?: 'report' | 'fail';
  readonly display?: unknown;
  readonly message?: string;
  readonly asks?: true;
}

export interface ReplyResult extends Branded {
  readonly status: 'reply';
  /** The text for the person. */
  readonly user: string;
  /** The text for the model. */
  readonly model: string;
}

interface OkOptions {
  excludeValueFromContext?: boolean;
  /**
   * True if the turn ends with this call, as with a terminal tool. It does if all calls of the batch succeed, so that the model reads every
   * failure. A terminating contract ignores it.
   */
  final?: boolean;
}

/** Success. The model reads the message, a blank line, and the rendered value. */
export function ok(): OkResult<undefined>;
export function ok<O>(value: O, message?: string, options?: OkOptions): OkResult<O>;
export function ok<O>(value?: O, message: string = 'OK', options: OkOptions = {}): OkResult<O | undefined> {
  const { excludeValueFromContext, final } = options;
  return Object.freeze({
    [RESULT]: true as const,
    status: 'ok' as const,
    value,
    message,
    ...(excludeValueFromContext === true ? { excludeValueFromContext } : {}),
    ...(final === true ? { final } : {}),
  });
}

/** Failure: everything the call wrote is rolled back, and the model reads the message. */
export function fail(message: string, details: { code?: string; value?: unknown } = {}): FailResult {
  const base = { [RESULT]: true as const, status: 'error' as const, code: details.code ?? 'execution', message };
  return Object.freeze('value' in details ? { ...base, value: details.value } : base);
}

/** A rule of the domain refused: a failure, never a success in disguise. */
export function blocked(reason: string): FailResult {
  return fail(reason, { code: 'blocked' });
}

/**
 * The answer will come from outside: from a person, a webhook, a long job. `message` is what the model reads meanwhile.
 * With `asks`, the answer is not the result: the tool runs again and finds it in `ctx.answer`.
 */
export function pending(
  options: {
    expiresInMs?: number;
    /** For the host that shows the call. In both cases it ends as `error/expired`. */
    onExpiry?: 'report' | 'fail';
    display?: unknown;
    message?: string;
    asks?: true;
  } = {},
): PendingResult {
  const { expiresInMs, onExpiry } = options;
  if (expiresInMs !== undefined && !(Number.isFinite(expiresInMs) && expiresInMs > 0)) {
    throw new LastcallError('options', `pending(): expiresInMs must be a number above 0, not ${String(expiresInMs)}.`);
  }
  if (onExpiry !== undefined && onExpiry !== 'report' && onExpiry !== 'fail') {
    throw new LastcallError('options', `pending(): onExpiry must be 'report' or 'fail', not ${String(onExpiry)}.`);
  }
  return Object.freeze({ [RESULT]: true as const, status: 'pending' as const, ...options });
}

/** Success with two texts: one for the person, one for the model. */
export function reply(texts: { user: string; model: string }): ReplyResult {
  return Object.freeze({ [RESULT]: true as const, status: 'reply' as const, user: texts.user, model: texts.model });
}

/** True for a result that ends the turn if its whole batch succeeds. */
export function isFinal(value: unknown): boolean {
  return isToolResult(value) && value.status === 'ok' && value.final === true;
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && (value as Partial<Branded>)[RESULT] === true;
}
