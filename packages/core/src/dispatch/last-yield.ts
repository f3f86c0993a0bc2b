import { type CallContext, runOf } from './call-context.ts';

// A generator that yields without ever waiting would keep every timer, its own timeout among them, from being heard.
const YIELDS_BETWEEN_PAUSES = 64;

/** Returns the last of the values that a tool yields, and shows each as progress. Any other result is returned as it is. */
export function lastYield(returned: unknown, ctx: CallContext): unknown {
  return isAsyncIterable(returned) ? drain(returned, ctx) : returned;
}

async function drain(values: AsyncIterable<unknown>, ctx: CallContext): Promise<unknown> {
  const run = runOf(ctx);
  let last: unknown;
  let count = 0;
  for await (const value of values) {
    // The call has ended: leaving the loop tells the generator to clean up.
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
