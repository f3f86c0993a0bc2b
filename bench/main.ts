// `npm run bench` measures, prints the tables and writes them to docs/benchmarks.md. `npm run bench -- --claims` runs everything three times,
// and writes the worst of each ratio to docs/claims.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { readArguments, refuse } from '../packages/gateway/test/support/command-options.ts';
import { claimsOf, RUNS, toPage } from './claims.ts';
import { benchCost } from './cost/cost.bench.ts';
import { benchDispatch } from './dispatch.bench.ts';
import { benchEnginesMessages } from './engines/engine-messages.bench.ts';
import { benchEnginesSteps } from './engines/engine-steps.bench.ts';
import { benchEvalCases } from './eval/cases.bench.ts';
import { benchGatewayAgents } from './gateway/agents.bench.ts';
import { benchGatewayChat } from './gateway/chat.bench.ts';
import { benchGatewayDurableStep } from './gateway/durable-step.bench.ts';
import { benchGatewayErase } from './gateway/erase.bench.ts';
import { benchGatewayFirstSign } from './gateway/first-sign.bench.ts';
import { benchGatewayForks } from './gateway/forks.bench.ts';
import { benchGatewayHttpTool } from './gateway/http-tool.bench.ts';
import { benchGatewayMcpTool } from './gateway/mcp-tool.bench.ts';
import { benchGatewayMessagePath } from './gateway/message-path.bench.ts';
import { benchGatewayOperators } from './gateway/operators.bench.ts';
import { benchGatewayPostedMessages } from './gateway/posted-messages.bench.ts';
import { benchGatewayRegisteredTools } from './gateway/registered-tools.bench.ts';
import { benchGatewaySearch } from './gateway/search.bench.ts';
import { benchGatewaySleepingAgents } from './gateway/sleeping-agents.bench.ts';
import { benchGatewayTenTimes } from './gateway/ten-times.bench.ts';
import { benchGatewayThousandAgents } from './gateway/thousand-agents.bench.ts';
import { benchHostFiles } from './host-files.bench.ts';
import { benchMachines } from './machines.bench.ts';
import { benchGrowth } from './overhead/growth.bench.ts';
import { benchMillionCalls } from './overhead/million-calls.bench.ts';
import { benchOverhead } from './overhead/overhead.bench.ts';
import { type Report, toMarkdown } from './report.ts';
import { benchSnapshot } from './snapshot.bench.ts';
import { benchStudioColdBrowser } from './studio/cold-browser.bench.ts';
import { benchStudioRunTimeline } from './studio/run-timeline.bench.ts';
import { benchStudioSpace } from './studio/space.bench.ts';

const benches: readonly (() => Promise<Report>)[] = [
  benchDispatch,
  benchOverhead,
  benchGrowth,
  benchMillionCalls,
  benchSnapshot,
  benchHostFiles,
  benchMachines,
  benchGatewayHttpTool,
  benchGatewayRegisteredTools,
  benchGatewayMcpTool,
  benchGatewayFirstSign,
  benchGatewayForks,
  benchEvalCases,
  benchGatewayChat,
  benchGatewayDurableStep,
  benchGatewayThousandAgents,
  benchGatewayPostedMessages,
  benchGatewayMessagePath,
  benchGatewayTenTimes,
  benchGatewayAgents,
  benchGatewaySleepingAgents,
  benchGatewayErase,
  benchGatewaySearch,
  benchGatewayOperators,
  benchEnginesSteps,
  benchEnginesMessages,
  benchCost,
  benchStudioColdBrowser,
  benchStudioRunTimeline,
  benchStudioSpace,
];
// `npm run bench overhead growth` runs only those, and writes nothing.
const HELP = `Measures, and writes docs/benchmarks.md. With names, runs only the benchmarks whose name contains one, and writes nothing.
  --claims    runs everything, or what is named, ${RUNS} times, and writes the worst of each ratio to docs/claims.md
Names: ${benches.map(({ name }) => name.replace('bench', '')).join(' ')}`;
const { values: options, positionals } = readArguments(HELP, {
  options: { claims: { type: 'boolean' }, json: { type: 'boolean' } },
  allowPositionals: true,
});
const wanted = positionals.map((name) => name.toLowerCase());
for (const name of wanted)
  if (!benches.some((bench) => bench.name.toLowerCase().includes(name)))
    refuse(`${name}: no benchmark has a name like that.\n${HELP}`);
const chosen =
  wanted.length === 0 ? benches : benches.filter(({ name }) => wanted.some((one) => name.toLowerCase().includes(one)));

/** Runs them all once, and prints each table when it is ready. */
async function runAll(): Promise<readonly Report[]> {
  const reports: Report[] = [];
  for (const bench of chosen) {
    const report = await bench();
    console.log(toMarkdown(report));
    reports.push(report);
  }
  return reports;
}

const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
const madeOn = `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`;
const head = [
  '# Benchmarks',
  '',
  'This page is written by `npm run bench`. The figures are of one run on one machine: read them as ratios within a table.',
  '',
  '`npm run bench -- --claims` runs everything three times and writes the worst of each ratio to [claims](claims.md). `npm run bench posted` or `npm run bench engines` runs some of them alone, and prints the figures without writing this page. Environment variables set the size and what is run. Processor time is read from /proc, so it is measured only on Linux.',
  '',
  '| benchmark | variables |',
  '| --- | --- |',
  '| `posted`, `engines` | `BENCH_AGENTS` (1000), `BENCH_MESSAGES` (8 each), `BENCH_CONNECTIONS` (32) |',
  '| `posted` | `BENCH_STORE` (`sqlite`, `postgres`), `BENCH_GATEWAYS` (`1`, `2`), `BENCH_POSTS` (`messages`, `events`), `BENCH_NODE_FLAGS="--cpu-prof --cpu-prof-dir=profiles"` for a profile of each gateway, `BENCH_STATEMENTS=1` for what each statement costs PostgreSQL, `BENCH_WAKES=1` for each wake |',
  '| `chat` | `BENCH_STORE`, `BENCH_EFFECTS` (`none`, `external`: effects of the tool), `BENCH_REQUESTS` (1000), `BENCH_NODE_FLAGS`, `BENCH_STATEMENTS` |',
  '| `tentimes` | `BENCH_TEN_TIMES` (`agents`, `members`, `history`), `BENCH_SCALE` (1) |',
  '| `gatewayagents` | `BENCH_ROUNDS` (12), `BENCH_RUNS` (40 a round), `BENCH_CONTENDERS` (`plain`, `used`, `turn`, `machine`, `few`, `many`), `BENCH_NODE_FLAGS` |',
  '| `evalcases` | `BENCH_CASES` (1000), `BENCH_STORE` (`sqlite`, `postgres`), `BENCH_NODE_FLAGS` |',
  '| `gatewayerase` | `BENCH_STORE` (`sqlite`, `postgres`), `BENCH_MESSAGES` (100000) |',
  '| `gatewaysearch` | `BENCH_STORE`, `BENCH_ENTRIES` (1000000), `BENCH_ROUNDS` (20) |',
  '| `operators` | `BENCH_STORE`, `BENCH_ROUNDS` (30), `BENCH_AGENTS` (100), `BENCH_MESSAGES` (4 each) |',
  '| `coldbrowser` | `BENCH_ROUNDS` (20) |',
  '| `engines` | `BENCH_ENGINES` (`lastcall,restate`), `BENCH_ROUNDS`, and `ABSURD_SQL`, the file `absurd.sql` of the release that belongs to its package; without it, Absurd is left out |',
  '',
  madeOn,
  '',
];
/**
 * Each in a separate process: code that was optimized for one benchmark would slow down the next, and one that fails must not cost an
 * hour of figures. In its place docs/benchmarks.md says that it failed, and docs/claims.md is not written.
 */
async function runEachAlone(): Promise<readonly Report[]> {
  const reports: Report[] = [];
  for (const { name } of chosen) {
    const child = fork(import.meta.filename, ['--json', name], { stdio: 'inherit' });
    // Its message arrives before the channel is closed.
    const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    let measured: readonly Report[] | undefined;
    child.once('message', (all: readonly Report[]) => {
      measured = all;
    });
    const [[code, signal]] = await ended;
    if (measured === undefined) {
      const failure = `This benchmark ended with ${signal ?? `exit code ${code}`} and without figures.`;
      console.error(`${name}: ${failure}`);
      process.exitCode = 1;
      reports.push({ title: name, claim: failure, columns: [], rows: [] });
    } else reports.push(...measured);
  }
  return reports;
}

const page = (name: string): URL => new URL(`../docs/${name}`, import.meta.url);

if (options.json === true) {
  process.send?.(await runAll());
  process.disconnect();
} else if (options.claims === true) {
  const runs: (readonly Report[])[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await runEachAlone());
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('BENCH_'));
  const given = settings.map(([name, value]) => `${name}=${value}`);
  const command = [...given, 'npm run bench -- --claims', ...positionals].join(' ');
  if (process.exitCode === 1) console.error('docs/claims.md was not written, because a benchmark failed.');
  else await writeFile(page('claims.md'), toPage({ claims: claimsOf(runs), command, madeOn }));
} else {
  const tables = (await runEachAlone()).map(toMarkdown);
  if (wanted.length === 0) await writeFile(page('benchmarks.md'), [...head, ...tables].join('\n'));
}
