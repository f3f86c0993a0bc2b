import { heldAtMost } from '../held.ts';
import { median } from '../measure.ts';
import { type Report, toMarkdown } from '../report.ts';
import { bareLoop } from './bare-loop.ts';
import type { CostContender } from './contender.ts';
import { lastcallAgent, lastcallWithoutBuiltIns } from './lastcall.ts';
import { type AskedRequest, type ModelServer, startModelServer } from './model-server.ts';
import { CONVERSATION, type CostTask, SINGLE_TASKS } from './tasks.ts';

const PEERS = ['mastra', 'openai-agents', 'langgraph'];

/** The peers are imported by name: they are installed only when a benchmark runs. `BENCH_PEERS=` leaves them out. */
async function contenders(): Promise<readonly CostContender[]> {
  const peers: CostContender[] = [];
  for (const name of process.env.BENCH_PEERS?.split(',').filter((one) => one !== '') ?? PEERS) {
    const { contender } = (await import(`../peers/cost/${name}.ts`)) as { contender: CostContender };
    peers.push(contender);
  }
  return [bareLoop, lastcallAgent, lastcallWithoutBuiltIns, ...peers];
}

/** The price of a cached token, as a fraction of that of an uncached one. */
const CACHED_PRICE = 0.1;

/** How long the model takes to answer when the time until the answer is measured. A test that checks only the counts sets it to 0. */
const MODEL_MS = Number(process.env.BENCH_MODEL_MS ?? 800);
const [QUESTION, ACTION] = SINGLE_TASKS;

interface Measured {
  readonly contender: CostContender;
  /** Seconds until a question is answered, and until an action is. */
  readonly seconds: readonly [question: number, action: number];
  /** Requests to the model for one task of each kind, each in a separate conversation. */
  readonly single: readonly number[];
  readonly conversation: readonly AskedRequest[];
}

/** What tasks cost in requests to a model and tokens. */
export async function benchCost(): Promise<Report> {
  const server = await startModelServer();
  try {
    const measured: Measured[] = [];
    for (const contender of await contenders()) {
      const single: number[] = [];
      for (const task of SINGLE_TASKS) single.push((await requestsFor(server, contender, [task])).length);
      const conversation = await requestsFor(server, contender, CONVERSATION);
      measured.push({ contender, single, conversation, seconds: await secondsFor(server, contender) });
    }
    return toReport(measured);
  } finally {
    await server.close();
  }
}

/** The median of three conversations, each after a question that warms it up. */
async function secondsFor(server: ModelServer, contender: CostContender): Promise<Measured['seconds']> {
  if (QUESTION === undefined || ACTION === undefined) throw new Error('There are no tasks.');
  const conversation = await contender.open(server.url);
  const timed = async (task: CostTask, delayMs: number): Promise<number> => {
    server.delay(delayMs);
    server.begin(task);
    const start = performance.now();
    await conversation.say(task.says);
    return (performance.now() - start) / 1_000;
  };
  try {
    await timed(QUESTION, 0);
    const questions: number[] = [];
    const actions: number[] = [];
    for (let count = 0; count < 3; count++) {
      questions.push(await timed(QUESTION, MODEL_MS));
      actions.push(await timed(ACTION, MODEL_MS));
    }
    return [median(questions), median(actions)];
  } finally {
    server.delay(0);
    await conversation.close();
  }
}

async function requestsFor(
  server: ModelServer,
  contender: CostContender,
  tasks: readonly CostTask[],
): Promise<readonly AskedRequest[]> {
  server.forget();
  const conversation = await contender.open(server.url);
  try {
    const all: AskedRequest[] = [];
    for (const task of tasks) {
      const asked = server.begin(task);
      const answer = await conversation.say(task.says);
      if (answer !== task.replies.at(-1)) throw new Error(`${contender.name} answered "${answer}" to "${task.says}".`);
      all.push(...asked);
    }
    return all;
  } finally {
    await conversation.close();
  }
}

function toReport(measured: readonly Measured[]): Report {
  const [bare] = measured;
  if (bare === undefined) throw new Error('Nothing was measured.');
  const total = (requests: readonly AskedRequest[], of: (one: AskedRequest) => number): number =>
    requests.reduce((sum, one) => sum + of(one), 0);
  const tokens = ({ input, output }: AskedRequest): number => input + output;
  const paid = ({ input, cached, output }: AskedRequest): number => input - cached + cached * CACHED_PRICE + output;
  const ratio = ({ conversation }: Measured, of: (one: AskedRequest) => number): number =>
    total(conversation, of) / total(bare.conversation, of);
  const [own = bare, slim = bare] = [lastcallAgent, lastcallWithoutBuiltIns].map((one) =>
    measured.find(({ contender }) => contender === one),
  );
  return {
    title: 'What tasks cost',
    claim:
      'Requests to the model for one task of each kind, then a conversation of ten tasks. All contenders have the same instructions, the same ' +
      'four tools and the same replies, from a server that speaks the wire format of chat completions. Tokens are counted with o200k. What ' +
      'a request has at its beginning in common with the request before counts as cached, and costs a tenth. The last columns are the time until ' +
      `the answer with a model of ${MODEL_MS} ms; where it is found by asking every 20 ms, that is included.`,
    columns: [
      '',
      ...SINGLE_TASKS.map(({ kind }) => kind),
      'ten tasks: requests',
      'input tokens',
      'of them cached',
      'output tokens',
      'tokens, ratio',
      'price, ratio',
      'question, s',
      'action, s',
    ],
    rows: measured.map((one) => [
      `${one.contender.name}, ${one.contender.of}`,
      ...one.single,
      one.conversation.length,
      total(one.conversation, ({ input }) => input),
      total(one.conversation, ({ cached }) => cached),
      total(one.conversation, ({ output }) => output),
      ratio(one, tokens),
      ratio(one, paid),
      ...one.seconds,
    ]),
    findings: [
      heldAtMost(
        'Requests of Lastcall beside the bare loop',
        own.conversation.length - bare.conversation.length,
        0,
        ' requests',
      ),
      heldAtMost('Tokens of Lastcall, ratio to the bare loop', ratio(own, tokens), 2.5),
      heldAtMost('Price of Lastcall with a cache, ratio to the bare loop', ratio(own, paid), 1.3),
      heldAtMost('Tokens without built-in tools, ratio to the bare loop', ratio(slim, tokens), 2.5),
      heldAtMost('Price without built-in tools with a cache, ratio to the bare loop', ratio(slim, paid), 1.3),
      heldAtMost(`Until the answer of a question, with a model of ${MODEL_MS} ms`, own.seconds[0], 0.9, ' s'),
      heldAtMost(`Until the answer of an action, with a model of ${MODEL_MS} ms`, own.seconds[1], 1.8, ' s'),
    ],
  };
}

if (import.meta.main) console.log(toMarkdown(await benchCost()));
