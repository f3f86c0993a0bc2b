import { createSession, dispatchCall, slice, tool } from '@lastcall/core';
import { z } from 'zod';
import type { Report } from '../report.ts';

const CALLS = 1_000_000;
const LOOKS = 5;

interface Counted {
  readonly type: 'counted';
}

/** Whether a long-lived session keeps anything of the calls that were settled on it. */
export async function benchMillionCalls(): Promise<Report> {
  const total = slice('total', { initial: 0, on: { counted: (n: number, _event: Counted) => n + 1 } });
  const session = createSession({ slices: [total] });
  const count = tool({
    description: 'Counts.',
    inputSchema: z.object({ why: z.string() }),
    effects: 'session',
    execute(_input, ctx) {
      ctx.session.dispatch<Counted>({ type: 'counted' });
      return 'counted';
    },
  });
  const settle = async (calls: number): Promise<void> => {
    for (let call = 0; call < calls; call++)
      await dispatchCall({ tools: { count }, session, call: { toolName: 'count', input: '{"why":"because"}' } });
  };
  await settle(CALLS / 100);
  const before = session.read(total);
  const rows: (string | number)[][] = [['0', heapMegabytes(), '–']];
  for (let look = 1; look <= LOOKS; look++) {
    const start = performance.now();
    await settle(CALLS / LOOKS);
    const us = ((performance.now() - start) * 1_000) / (CALLS / LOOKS);
    rows.push([(session.read(total) - before).toLocaleString('en'), heapMegabytes(), us]);
  }
  return {
    title: 'A million calls on one session',
    claim: 'Settlements are dropped as they arrive. Claim: the heap after a collection stays flat.',
    columns: ['calls settled', 'heap, MB', 'µs per call'],
    rows,
  };
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_000_000;
}
