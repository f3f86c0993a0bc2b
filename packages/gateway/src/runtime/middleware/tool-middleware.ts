import type { Middleware, MiddlewareCall, Outcome, ToolContext } from '@lastcall/core';

type Lists = ReadonlyMap<string, readonly Middleware[]>;

/**
 * Combines the middleware of single tools: each call goes through that of the called tool, outermost first. It
 * is made for each run, while tools are made once for all runs. Requests to the model do not belong to a tool, so
 * `model` is not used.
 */
export function toolMiddleware(lists: Lists): Middleware[] {
  if (lists.size === 0) return [];
  const listOf = (toolName: string): readonly Middleware[] => lists.get(toolName) ?? NONE;
  const hasRepair = [...lists.values()].flat().some((one) => one.repair !== undefined);
  return [
    {
      name: 'tool-middleware',
      call: (next, call, ctx) => callThrough(listOf(call.toolName), { next, call, ctx }),
      outcome: (outcome, call) =>
        listOf(call.toolName).reduceRight<Outcome>((shaped, one) => one.outcome?.(shaped, call) ?? shaped, outcome),
      // Defined only if a tool has one, because core uses the first `repair` that exists.
      ...(hasRepair
        ? {
            repair: (broken) =>
              listOf(broken.toolName)
                .find((one) => one.repair !== undefined)
                ?.repair?.(broken),
          }
        : {}),
    },
  ];
}

const NONE: readonly Middleware[] = [];

interface WrappedCall {
  readonly next: (call?: MiddlewareCall) => Promise<unknown>;
  readonly call: MiddlewareCall;
  readonly ctx: ToolContext;
}

async function callThrough(
  [first, ...rest]: readonly Middleware[],
  { next, call, ctx }: WrappedCall,
): Promise<unknown> {
  if (first === undefined) return await next(call);
  if (first.call === undefined) return await callThrough(rest, { next, call, ctx });
  return await first.call((changed = call) => callThrough(rest, { next, call: changed, ctx }), call, ctx);
}
