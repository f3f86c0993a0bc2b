import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqliteJournal } from '../../src/doors/sqlite-journal.ts';
import { killAtEveryBoundary } from '../../src/testing/kill-at-every-boundary.ts';
import { effectsIn, orderDesk } from './order-desk.ts';
import { type OrderEnd, runOrder } from './order-run.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lastcall-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const EFFECTS = ['charged', 'shipped', 'call-4'];

test('[R49] a turn on the SQLite journal has the same result wherever the process is killed', async () => {
  const store = sqliteJournal({ path: join(folder, 'journal.db') });
  let scenarios = 0;
  const report = await killAtEveryBoundary(() => {
    const id = `order-${++scenarios}`;
    return { ...orderDesk(join(folder, `${id}.txt`)), journal: () => store.thread(id) };
  });
  expect(effectsIn(join(folder, 'order-1.txt'))).toEqual(EFFECTS);
  expect(report.boundaries).toBe(16);
  expect(report.tries.filter(({ outcome }) => outcome === 'unknown_outcome')).toHaveLength(4);
  expect(store.threads()).toHaveLength(33);
  store.close();
});

test('[R49] the same holds for a process that is really killed, with SIGKILL, before and after each write', async () => {
  const whole = await runProcess('whole', 0, 'before');
  const unhurt = JSON.parse(whole.stdout) as OrderEnd;
  expect(unhurt.effects).toHaveLength(3);
  expect(unhurt.notes).toEqual(['chair', 'shipped']);

  let boundaries = 0;
  let inDoubt = 0;
  for (let at = 1; ; at++) {
    const [before, after] = await Promise.all([lives(at, 'before'), lives(at, 'after')]);
    if (before === undefined || after === undefined) break;
    boundaries++;
    for (const end of [before, after]) {
      const isInDoubt = end.outcomes.includes('unknown_outcome');
      if (isInDoubt) inDoubt++;
      expect(new Set(end.effects).size, `killed at write ${at}`).toBe(end.effects.length);
      expect(end.notes, `killed at write ${at}`).toEqual(unhurt.notes);
      expect(end.response).toBe(unhurt.response);
      if (!isInDoubt) expect(end.effects).toHaveLength(3);
    }
  }
  expect(boundaries).toBe(16);
  expect(inDoubt).toBe(4);
}, 120_000);

/** Kills a process, and continues in this one from its journal. Undefined if there is no such write. */
async function lives(at: number, when: 'before' | 'after'): Promise<OrderEnd | undefined> {
  const name = `${at}-${when}`;
  if ((await runProcess(name, at, when)).signal !== 'SIGKILL') return undefined;
  return await runOrder(join(folder, name));
}

function runProcess(name: string, at: number, when: string): Promise<{ stdout: string; signal: string | undefined }> {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  const program = join(import.meta.dirname, 'order-process.ts');
  const { promise, resolve, reject } = Promise.withResolvers<{ stdout: string; signal: string | undefined }>();
  execFile(process.execPath, [program, place, String(at), when], (error, stdout, stderr) => {
    const signal = error?.signal ?? undefined;
    if (error !== null && signal !== 'SIGKILL') reject(new Error(stderr, { cause: error }));
    else resolve({ stdout, signal });
  });
  return promise;
}
