import { createSession, dispatchCall, slice, tool } from '@lastcall/core';
import { z } from 'zod';
import { microsecondsPerRun } from './measure.ts';
import type { Report } from './report.ts';

interface Counted {
  readonly type: 'counted';
  readonly by: number;
}

/** What the whole pipeline costs above a bare schema parse and the tool itself. */
export async function benchDispatch(): Promise<Report> {
  const total = slice('total', { initial: 0, on: { counted: (n: number, { by }: Counted) => n + by } });
  const inputSchema = z.object({ by: z.number(), why: z.string(), tags: z.array(z.string()) });
  const count = tool({
    description: 'Counts.',
    inputSchema,
    effects: 'session',
    execute({ by }, ctx) {
      ctx.session.dispatch<Counted>({ type: 'counted', by });
      return 'counted';
    },
  });
  const tools = { count };
  const input = '{"by":1,"why":"because","tags":["a","b"]}';

  let plainTotal = 0;
  const session = createSession({ slices: [total] });
  const plain = { session: { dispatch: (event: Counted) => void (plainTotal += event.by) } } as never;
  const bare = async (): Promise<unknown> => await count.execute?.(inputSchema.parse(JSON.parse(input)), plain);
  const dispatch = (): Promise<unknown> => dispatchCall({ tools, session, call: { toolName: 'count', input } });
  const timed = { ...tools, count: { ...count, timeoutMs: 60_000 } };
  const limited = (): Promise<unknown> => dispatchCall({ tools: timed, session, call: { toolName: 'count', input } });

  const bareUs = await microsecondsPerRun(bare, { runs: 20_000 });
  const dispatchUs = await microsecondsPerRun(dispatch, { runs: 20_000 });
  const limitedUs = await microsecondsPerRun(limited, { runs: 20_000 });
  return {
    title: 'One call through the pipeline',
    claim:
      'A trivial session-writing tool. Claim: the whole pipeline costs at most 5 µs above a bare schema parse and `execute`.',
    columns: ['', 'µs per call', 'above the bare call, µs'],
    rows: [
      ['schema parse and `execute`', bareUs, '–'],
      ['`dispatchCall`', dispatchUs, dispatchUs - bareUs],
      ['`dispatchCall` with a timeout', limitedUs, limitedUs - bareUs],
    ],
  };
}
