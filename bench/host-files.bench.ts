import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSession, dispatchCall, fail, tool } from '@lastcall/core';
import { hostFilesystem } from '@lastcall/core/node';
import { z } from 'zod';
import { microsecondsPerRun } from './measure.ts';
import type { Report } from './report.ts';

const TREES = [100, 1_000, 10_000] as const;
const TOUCHED = [1, 10] as const;

/** A failed call on host files: what rolling back costs by the size of the tree and by what the call touched. */
export async function benchHostFiles(): Promise<Report> {
  const rows: (string | number)[][] = [];
  for (const files of TREES) rows.push(await measureTree(files));
  return {
    title: 'Rolling back host files',
    claim:
      'A call that overwrites files and fails. Claim: the cost follows what the call touched, not the size of the tree.',
    columns: ['files in the tree', ...TOUCHED.map((touched) => `${touched} touched, µs`)],
    rows,
  };
}

async function measureTree(files: number): Promise<(string | number)[]> {
  const root = await mkdtemp(join(tmpdir(), 'lastcall-bench-'));
  try {
    await fill(root, files);
    const session = createSession({ filesystem: hostFilesystem(root) });
    const row: (string | number)[] = [files.toLocaleString('en')];
    for (const touched of TOUCHED)
      row.push(await microsecondsPerRun(() => overwriteAndFail(session, touched), { runs: 20, rounds: 7 }));
    return row;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function fill(root: string, files: number): Promise<void> {
  for (let file = 0; file < files; file++) {
    const directory = join(root, `d${Math.floor(file / 100)}`);
    if (file % 100 === 0) await mkdir(directory);
    await writeFile(join(directory, `f${file % 100}.txt`), 'before '.repeat(100));
  }
}

function overwriteAndFail(session: ReturnType<typeof createSession>, touched: number): Promise<unknown> {
  const overwrite = tool({
    description: 'Overwrites and fails.',
    inputSchema: z.object({}),
    async execute(_input, ctx) {
      for (let file = 0; file < touched; file++) await ctx.filesystem.writeText(`d0/f${file}.txt`, 'after');
      return fail('no');
    },
  });
  return dispatchCall({ tools: { overwrite }, session, call: { toolName: 'overwrite' } });
}
