import { dispatchCall, type Middleware, runTurn, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolMiddleware } from '../../src/runtime/middleware/tool-middleware.ts';

const inputSchema = z.object({ n: z.number() });

describe('the middleware of a tool', () => {
  const order: string[] = [];
  const named = (name: string, more: Partial<Middleware> = {}): Middleware => ({
    name,
    async call(next) {
      order.push(`${name} before`);
      const value = await next();
      order.push(`${name} after`);
      return value;
    },
    ...more,
  });
  const make = () => tool({ description: 'Doubles.', inputSchema, execute: ({ n }) => (order.push('tool'), n * 2) });
  const tools = { double: make(), other: make() };
  const run = async (list: readonly Middleware[], toolName = 'double', outer: readonly Middleware[] = []) => {
    order.length = 0;
    const middleware = [...outer, ...toolMiddleware(new Map([['double', list]]))];
    return (await dispatchCall({ tools, call: { toolName, input: { n: 2 } }, middleware })).outcome;
  };

  test('[X20] the middleware of a tool is inside that of the agent, the first of a list outermost, and around no other tool', async () => {
    await run([named('a'), named('b')], 'double', [named('agent')]);
    const inner = ['a before', 'b before', 'tool', 'b after', 'a after'];
    expect(order).toEqual(['agent before', ...inner, 'agent after']);
    await run([named('a'), named('b')], 'other', [named('agent')]);
    expect(order).toEqual(['agent before', 'tool', 'agent after']);
  });

  test('[X20] the middleware of a tool can change the input, and answer instead of the inner middleware and the tool', async () => {
    const changing = named('a', { call: (next, call) => next({ ...call, input: { n: 5 } }) });
    expect(await run([changing, named('b')])).toMatchObject({ status: 'ok', value: 10 });
    expect(await run([named('a', { call: () => 'mine' }), named('b')])).toMatchObject({ status: 'ok', value: 'mine' });
    expect(order).toEqual([]);
  });

  test('[X20] the middleware of a tool can change the outcome, innermost first', async () => {
    const shaping = (name: string) =>
      named(name, { outcome: (outcome) => ({ ...outcome, text: `${outcome.text} ${name}` }) as typeof outcome });
    expect(await run([shaping('a'), shaping('b')])).toMatchObject({ text: '4 b a' });
  });

  test('[X20] if the middleware of a tool throws, the call fails, and the turn continues', async () => {
    const throwing = named('a', {
      call: () => {
        throw new Error('no luck');
      },
    });
    const model = scriptedModel([{ toolName: 'double', input: { n: 2 } }, 'Done.']);
    const middleware = toolMiddleware(new Map([['double', [throwing]]]));
    const { settlements, stop } = await runTurn({ model, prompt: 'Go', tools, middleware });
    expect(settlements).toMatchObject([{ outcome: { status: 'error', message: 'no luck' } }]);
    expect(stop).toEqual({ reason: 'end_turn', by: 'text' });
  });
});
