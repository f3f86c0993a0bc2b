import { createSession, dispatchCall, fail, slice, tool } from '@lastcall/core';
import { z } from 'zod';
import { microsecondsPerRun } from './measure.ts';
import type { Report } from './report.ts';

const SIZES = [10, 1_000, 100_000] as const;

/** Snapshot and rollback at several sizes of state: both only keep a reference. */
export async function benchSnapshot(): Promise<Report> {
  const rows: (string | number)[][] = [];
  for (const size of SIZES) rows.push(await measureSize(size));
  return {
    title: 'Snapshot and rollback',
    claim: 'A session whose slice holds that many items. Claim: flat.',
    columns: ['items', 'snapshot and restore, µs', 'a call that writes and fails, µs'],
    rows,
  };
}

async function measureSize(size: number): Promise<(string | number)[]> {
  const items = slice<readonly { n: number }[]>('items', {
    initial: Array.from({ length: size }, (_, n) => ({ n })),
    on: {},
  });
  const last = slice('last', { initial: 0, on: { bumped: (n: number) => n + 1 } });
  const session = createSession({ slices: [items, last] });
  const failing = tool({
    description: 'Writes and fails.',
    inputSchema: z.object({}),
    effects: 'session',
    execute(_input, ctx) {
      ctx.session.dispatch({ type: 'bumped' });
      return fail('no');
    },
  });
  const snapshotUs = await microsecondsPerRun(
    () => {
      const snapshot = session.snapshot();
      session.dispatch({ type: 'bumped' });
      session.restore(snapshot);
    },
    { runs: 20_000 },
  );
  const rollbackUs = await microsecondsPerRun(
    () => dispatchCall({ tools: { failing }, session, call: { toolName: 'failing' } }),
    { runs: 5_000 },
  );
  return [size.toLocaleString('en'), snapshotUs, rollbackUs];
}
