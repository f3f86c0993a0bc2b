// Cases of recorded runs of a gateway, for cases.bench.ts.
import { calledTools, contains, evaluate } from '@lastcall/core/eval';

const runs = String(process.env.BENCH_RUN_IDS).split(',');

await evaluate({
  name: 'recorded',
  cases: Array.from({ length: Number(process.env.BENCH_CASES) }, (_, at) => ({
    name: `order ${at}`,
    input: `Where is order ${at}?`,
    expected: 'Monday',
    run: runs[at % runs.length],
  })),
  agent: 'Desk',
  scores: { answer: contains(), tools: calledTools(['look']) },
});
