// `npm run bench` measures, prints the tables and writes them to docs/benchmarks.md.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { benchDispatch } from './dispatch.bench.ts';
import { benchHostFiles } from './host-files.bench.ts';
import { type Report, toMarkdown } from './report.ts';
import { benchSnapshot } from './snapshot.bench.ts';

const benches: readonly (() => Promise<Report>)[] = [benchDispatch, benchSnapshot, benchHostFiles];

const tables: string[] = [];
for (const bench of benches) {
  const table = toMarkdown(await bench());
  console.log(table);
  tables.push(table);
}

const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
const head = [
  '# Benchmarks',
  '',
  'Written by `npm run bench`. Figures of one run on one machine: read them as ratios within a table.',
  '',
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`,
  '',
];
await writeFile(new URL('../docs/benchmarks.md', import.meta.url), [...head, ...tables].join('\n'));
