// `npm run bench` measures, prints the tables and writes them to docs/benchmarks.md.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { benchDispatch } from './dispatch.bench.ts';
import { benchGatewayDurableStep } from './gateway/durable-step.bench.ts';
import { benchGatewayFirstSign } from './gateway/first-sign.bench.ts';
import { benchGatewayHttpTool } from './gateway/http-tool.bench.ts';
import { benchGatewaySleepingAgents } from './gateway/sleeping-agents.bench.ts';
import { benchGatewayThousandAgents } from './gateway/thousand-agents.bench.ts';
import { benchHostFiles } from './host-files.bench.ts';
import { benchMachines } from './machines.bench.ts';
import { benchGrowth } from './overhead/growth.bench.ts';
import { benchMillionCalls } from './overhead/million-calls.bench.ts';
import { benchOverhead } from './overhead/overhead.bench.ts';
import { type Report, toMarkdown } from './report.ts';
import { benchSnapshot } from './snapshot.bench.ts';

const benches: readonly (() => Promise<Report>)[] = [
  benchDispatch,
  benchOverhead,
  benchGrowth,
  benchMillionCalls,
  benchSnapshot,
  benchHostFiles,
  benchMachines,
  benchGatewayHttpTool,
  benchGatewayFirstSign,
  benchGatewayDurableStep,
  benchGatewayThousandAgents,
  benchGatewaySleepingAgents,
];
// `npm run bench overhead growth` runs those alone, and writes nothing.
const wanted = process.argv.slice(2).map((name) => name.toLowerCase());
const chosen =
  wanted.length === 0 ? benches : benches.filter(({ name }) => wanted.some((one) => name.toLowerCase().includes(one)));

const tables: string[] = [];
for (const bench of chosen) {
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
if (wanted.length === 0)
  await writeFile(new URL('../docs/benchmarks.md', import.meta.url), [...head, ...tables].join('\n'));
