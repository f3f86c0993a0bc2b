import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadTranscriptRows } from '../../src/domain/transcript/load-transcript.ts';
import { readSession } from '../../src/domain/transcript/read-session.ts';
import { restoreMachine } from '../../src/runtime/run/restore-machine.ts';
import { ask } from './api.ts';
import { problemsOfStore } from './check-store.ts';
import { problemsOfStreams } from './check-streams.ts';
import { type Crew, openCrew } from './crew.ts';
import { crewMachine } from './defined-config.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { bearsAnotherLoss } from './run-progress.ts';
import { isIdle } from './soundness.ts';
import { until } from './until.ts';

const LEASE_MS = 1_000;

const CONFIG = `import { definedConfig } from '${new URL('./defined-config.ts', import.meta.url).href}';
export default definedConfig;
`;

const calling = (name: string, input: object = {}): ModelReply => ({ calls: [{ name, input }] });

/** The clerk's steps. Each depends only on the request, so that a repeated request gets the same reply. */
const STEPS: readonly NonNullable<ModelReply['calls']>[] = [
  [{ name: 'open_sections', input: { keys: ['orders'] } }],
  [
    { name: 'planning_setup_plan', input: { objective: 'Sell', initial_steps: ['Bill'] } },
    { name: 'note', input: { ref: 'chair' } },
  ],
  [{ name: 'bill', input: { ref: 'billed' } }],
  [{ name: 'pay', input: { ref: 'paid' } }],
  [{ name: 'note', input: { ref: 'lamp' } }],
];

function decide({ agent, system, said, calls }: ModelRequest): ModelReply {
  const names = calls.map(({ name }) => name);
  if (agent === 'Clerk') {
    const next = STEPS.find((step, index) => calls.length < STEPS.slice(0, index + 1).flat().length && step.length > 0);
    const isAnswered = /\n {2}approved/.test(said);
    return next === undefined || (next === STEPS.at(-1) && !isAnswered) ? { text: 'Done.' } : { calls: next };
  }
  if (system.startsWith('You are a worker.'))
    return names.includes('weigh') ? calling('transition_report') : calling('weigh', { ref: 'weighed' });
  if (system.startsWith('You are the payer.'))
    return names.includes('pay') ? { text: 'Done.' } : calling('pay', { ref: 'paid' });
  return calling(said.includes('It was weighed.') ? 'transition_settle' : 'transition_hire');
}

/** Tells which gateway runs the tool first, and holds that call until the test releases it. Later calls continue. */
class Held {
  readonly #inside = Promise.withResolvers<string>();
  readonly #free = Promise.withResolvers<void>();
  #isTaken = false;

  readonly gateway: Promise<string> = this.#inside.promise;

  async take(gateway: string): Promise<void> {
    if (this.#isTaken) return;
    this.#isTaken = true;
    this.#inside.resolve(gateway);
    await this.#free.promise;
  }

  release(): void {
    this.#free.resolve();
  }
}

test('[A4] [A8] [A16] two gateways on PostgreSQL that stall near the lease and die: an agent that uses everything and a machine with two workers end as undisturbed, or a call is in doubt, and no effect happens twice', async () => {
  const held = { bill: new Held(), weigh: new Held(), pay: new Held() };
  await using crew = await openCrew({
    kind: 'postgres',
    leaseMs: LEASE_MS,
    config: CONFIG,
    decide,
    onTool: async ({ gateway, toolName }) => await held[toolName as keyof typeof held]?.take(gateway),
  });
  const { items } = await ask(crew.first.url, '/api/agents');
  const idOf = (name: string): string => items.find((one: { name: string }) => one.name === name).id;
  const ids = { clerk: idOf('Clerk'), crew: idOf('Crew') };
  for (const id of Object.values(ids))
    await ask(crew.first.url, `/api/agents/${id}/events`, { source: 'test', name: 'go' });

  // One is frozen inside a call with an external effect, until another has taken the run over. Then it continues.
  const staller = crew.named(await held.bill.gateway);
  const before = await epochOf(crew, ids.clerk);
  staller.send('SIGSTOP');
  await until('another takes the clerk over', async () => (await epochOf(crew, ids.clerk)) > before);
  held.bill.release();
  staller.send('SIGCONT');

  // One dies inside a call of a worker.
  const victim = crew.named(await held.weigh.gateway);
  await victim.kill();
  held.weigh.release();
  const reborn = await crew.site.start(victim.name);

  // Both are frozen in turns, for about as long as a lease.
  for (const [index, name] of ['a', 'b', 'a', 'b'].entries()) {
    await until('no run fails of one more stall', () => bearsAnotherLoss(crew.site));
    crew.named(name).send('SIGSTOP');
    await sleep(LEASE_MS - 100 + 100 * index);
    crew.named(name).send('SIGCONT');
  }

  // Both wait for an approval. The gateway that runs the first payment is frozen inside it until another takes over.
  const pending = await until('two approvals wait', async () => {
    const waiting = (await ask(reborn.url, '/api/pending')).items;
    return waiting.length === 2 && waiting;
  });
  const epochs = { clerk: await epochOf(crew, ids.clerk), crew: await epochOf(crew, ids.crew) };
  for (const { runId, callId } of pending)
    await ask(reborn.url, `/api/runs/${runId}/tool-results`, { callId, approve: true });
  const payer = crew.named(await held.pay.gateway);
  payer.send('SIGSTOP');
  await until('another takes over', async () => {
    const now = { clerk: await epochOf(crew, ids.clerk), crew: await epochOf(crew, ids.crew) };
    return now.clerk > epochs.clerk + 1 || now.crew > epochs.crew + 1;
  });
  held.pay.release();
  payer.send('SIGCONT');

  await until('all is done', async () => {
    const runs = await crew.site.db.selectFrom('runs').select('status').execute();
    return (await isIdle(crew.site)) && runs.length === 4 && runs.every(({ status }) => status !== 'running');
  });
  expect(await problemsOfStore(crew.site.db)).toEqual([]);
  expect(await problemsOfStreams(crew.site.db)).toEqual([]);
  expect(crew.site.model.problems).toEqual([]);
  expect(await crew.site.db.selectFrom('runs').select('status').where('status', '!=', 'completed').execute()).toEqual(
    [],
  );
  await checkEffects(crew);
  await checkClerk(crew, ids.clerk);
  await checkMachine(crew, ids.crew);
});

async function epochOf({ site: { db } }: Crew, id: string): Promise<number> {
  const { epoch } = await db.selectFrom('threads').select('epoch').where('id', '=', id).executeTakeFirstOrThrow();
  return epoch;
}

const callsOf = ({ site: { db } }: Crew) =>
  db.selectFrom('calls').select(['tool_name', 'thread_id', 'idempotency_key', 'outcome_status', 'outcome', 'input']);

/** No call took effect twice, and one that succeeded did once. A call that did not succeed is in doubt. */
async function checkEffects(crew: Crew): Promise<void> {
  const effects = await crew.site.effects();
  const keys = effects.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(keys.length);
  const calls = await callsOf(crew).where('tool_name', 'in', ['bill', 'pay', 'weigh']).execute();
  expect(calls.map(({ tool_name }) => tool_name).sort()).toEqual(['bill', 'pay', 'pay', 'weigh', 'weigh']);
  for (const { idempotency_key, outcome_status, outcome } of calls)
    if (outcome_status === 'ok') expect(keys).toContain(idempotency_key);
    else expect(outcome).toContain('unknown_outcome');
  // The calls in which a gateway was stopped or killed.
  expect(calls.filter(({ outcome_status }) => outcome_status !== 'ok').length).toBeGreaterThanOrEqual(2);
}

/** Session and file have the lines of the calls that are known to have succeeded; the plan exists, and the section is open. */
async function checkClerk(crew: Crew, id: string): Promise<void> {
  const { db } = crew.site;
  const slices = await readSession(db, id);
  const done = await callsOf(crew)
    .where('thread_id', '=', id)
    .where('tool_name', 'in', ['note', 'bill', 'pay'])
    .where('outcome_status', '=', 'ok')
    .execute();
  const refs = done.map(({ input }) => refOf(JSON.parse(input)));
  const lines = slices.ledger?.state as readonly string[];
  expect(lines.toSorted()).toEqual(refs.toSorted());
  expect(refs).toEqual(expect.arrayContaining(['chair', 'lamp']));
  const files = await db.selectFrom('files').select('content').where('thread_id', '=', id).execute();
  expect(files.map(({ content }) => JSON.parse(content))).toEqual([lines.map((line) => `${line}\n`).join('')]);
  expect(JSON.stringify(slices)).toContain('"objective":"Sell"');
  expect(JSON.stringify(slices['lastcall.opened-sections'])).toContain('orders');
}

function refOf(input: unknown): string {
  return ((typeof input === 'string' ? JSON.parse(input) : input) as { ref: string }).ref;
}

async function checkMachine(crew: Crew, id: string): Promise<void> {
  const rows = await loadTranscriptRows(crew.site.db, id);
  const machine = restoreMachine({ charter: crewMachine, root: 'boss' } as never, { rows, state: undefined });
  expect(machine.tree.root).toMatchObject({ node: 'payer', children: [] });
  expect(machine.suspended).toEqual([]);
  expect(machine.history.filter(({ kind }) => kind === 'ceded')).toHaveLength(2);
}
