import { type CallContext, runOf } from './call-context.ts';

// A generator that yields without ever waiting would keep every timer, including its own timeout, from firing.
const YIELDS_BETWEEN_PAUSES = 64;

/**
 * Returns the last of the values that a tool yields, and reports each as progress. Any other result is returned
 * unchanged.
 */
export function lastYield(returned: unknown, ctx: CallContext): unknown {
  return isAsyncIterable(returned) ? drain(returned, ctx) : returned;
}

async function drain(values: AsyncIterable<unknown>, ctx: CallContext): Promise<unknown> {
  const run = runOf(ctx);
  let last: unknown;
  let count = 0;
  for await (const value of values) {
    // The call has ended: leaving the loop lets the generator clean up.
    if (!ctx.session.isOpen) return undefined;
    last = value;
    ctx.progress(value);
    const waiting = run.ready?.();
    if (waiting !== undefined) await waiting;
    if (++count % YIELDS_BETWEEN_PAUSES === 0) await run.clock.sleep(0);
  }
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'
  );
}
