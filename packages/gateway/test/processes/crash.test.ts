import { describe, expect, test } from 'vitest';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { answerText, doDuties, dutiesOf, inSpace } from './answering.ts';
import { type Crew, type CrewOptions, kinds, openCrew } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { say } from './site.ts';
import { until } from './until.ts';

const LEASE_MS = 1_000;
/** Long enough that no run is taken over from a gateway that is only slow, before it is killed. */
const STEADY_LEASE_MS = 4_000;
/** A sweep, and the slowness of a machine that is busy with other tests. With the lease it stays below the 15 s of the law. */
const SLACK_MS = 12_000;

describe.each(kinds)('a gateway on $kind is killed', { concurrent: true }, ({ kind }) => {
  test('[G37] [G56] when a gateway is killed after it took events and before the model answered, they are taken over in time, and processed once', async () => {
    const death = deathOfFirst(({ agent }) => agent === 'Anna');
    await using crew = await openCrew({
      kind,
      leaseMs: LEASE_MS,
      decide: async (request) => (death.isDue(request) ? await death.wait(request) : doDuties(request)),
    });
    await say(crew.first.url, 'North', 'Anna: answer m1');
    const survivor = await crew.crash(await death.victim);
    const { requests } = crew.site.model;
    const isAsked = (): boolean => requests.some(({ agent, gateway }) => agent === 'Anna' && gateway === survivor.name);
    await until('another asks the model', isAsked, { patienceMs: LEASE_MS + SLACK_MS });
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    const runs = await crew.site.db
      .selectFrom('runs')
      .innerJoin('agents', 'agents.id', 'runs.thread_id')
      .select(['runs.status', 'runs.number'])
      .where('agents.name', '=', 'Anna')
      .execute();
    expect(runs).toEqual([{ status: 'completed', number: 1 }]);
  });

  test('[G20] [G37] when a gateway is killed while the model spoke, what was shown of the message is taken back, and it is sent once', async () => {
    const death = deathOfFirst((request) => dutiesOf(request).some(({ ref }) => ref === 'm2'));
    await using crew = await openCrew({
      kind,
      leaseMs: STEADY_LEASE_MS,
      decide: (request) =>
        death.isDue(request) ? { ...doDuties(request), hold: death.wait(request) } : doDuties(request),
    });
    await say(crew.first.url, 'North', 'Anna: answer m1');
    await crew.answered('m1');
    await say(crew.first.url, 'North', 'Anna: answer m2');
    const victim = await death.victim;
    await until('a beginning is shown', async () => (await streamed(crew, 'message.start')).length === 2);
    await crew.crash(victim);
    await crew.answered('m2');
    expect(await crew.problems()).toEqual([]);
    expect(await streamed(crew, 'message.cancelled')).toHaveLength(1);
  });

  test('[A4] [G20] [G39] [G47] when a gateway is killed inside an idempotent call after enter_space, it runs again with the same key, what it wrote to the session is there once, and its start and its input are shown once, as those of the calls after it', async () => {
    await using crew = await crashInsideCall({ kind, decide: recordTwice });
    expect(await crew.problems()).toEqual([]);
    expect(await writtenInputs(crew)).toEqual(['{"ref":"m1"}', '{"ref":"m1-again"}']);
    const effects = await crew.site.effects();
    expect(effects.map(({ ref }) => ref)).toEqual(['m1', 'm1', 'm1-again']);
    expect(effects[1]?.idempotencyKey).toBe(effects[0]?.idempotencyKey);
    expect(effects[2]?.idempotencyKey).not.toBe(effects[0]?.idempotencyKey);
    expect(await outcomesOf(crew, 'record')).toEqual(['ok', 'ok']);
  });

  test('[G38] [G39] [G41] when a gateway is killed inside a call, what was sent before is not sent again, the call is not run again, all is closed', async () => {
    const inside = Promise.withResolvers<string>();
    await using crew = await openCrew({
      kind,
      leaseMs: STEADY_LEASE_MS,
      decide: sendAndCharge,
      async onTool({ gateway }) {
        inside.resolve(gateway);
        await never;
      },
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    const victim = await inside.promise;
    const { db } = crew.site;
    expect(await db.selectFrom('messages').select('status').where('kind', '=', 'tool').execute()).toEqual([
      { status: 'running' },
    ]);
    await crew.crash(victim);
    await until('the run has ended', async () => {
      const runs = await db.selectFrom('runs').select('status').execute();
      return runs.length > 0 && runs.every(({ status }) => status === 'completed');
    });
    expect(await crew.problems()).toEqual([]);
    expect(await crew.site.effects()).toHaveLength(1);
    expect(await outcomesOf(crew, 'charge')).toEqual(['error unknown_outcome']);
    expect(await db.selectFrom('messages').select('status').where('kind', '=', 'tool').execute()).toEqual([
      { status: 'error' },
    ]);
    const answers = await db
      .selectFrom('messages')
      .select('id')
      .where('content', '=', `"${answerText('m1')}"`)
      .execute();
    expect(answers).toHaveLength(1);
    // The model of the next worker sees the recorded message, and that the outcome of the charge is unknown.
    const seen = crew.site.model.requests.findLast(({ agent }) => agent === 'Anna')?.newCalls ?? [];
    expect(seen.map(({ name }) => name)).toEqual(['send_message', 'charge']);
    expect(seen[0]?.result).toBe('Sent.');
    expect(seen[1]?.result).toContain('may have taken effect or not');
  });
});

// The code for these does not depend on the database.
describe('a gateway is killed', { concurrent: true }, () => {
  test('[K2] when a gateway is killed while the model writes its reply, the part that was shown is withdrawn, and it is posted once', async () => {
    const death = deathOfFirst(({ agent, newCalls }) => agent === 'Anna' && newCalls.length === 1);
    await using crew = await openCrew({
      kind: 'postgres',
      leaseMs: STEADY_LEASE_MS,
      env: { TEST_REPLIES: 'text' },
      decide(request) {
        const [duty] = dutiesOf(request);
        if (duty === undefined) return { text: '' };
        if (request.newCalls.length === 0) return { calls: [{ name: 'record', input: { ref: duty.ref } }] };
        const reply = { text: answerText(duty.ref) };
        return death.isDue(request) ? { ...reply, hold: death.wait(request) } : reply;
      },
    });
    await say(crew.first.url, 'North', 'Anna: record m1');
    const victim = await death.victim;
    await until('a beginning is shown', async () => (await streamed(crew, 'message.start')).length === 1);
    await crew.crash(victim);
    await crew.answered('m1');
    expect(await streamed(crew, 'message.cancelled')).toHaveLength(1);
    const { db } = crew.site;
    const answers = db
      .selectFrom('messages')
      .select('id')
      .where('content', '=', `"${answerText('m1')}"`);
    expect(await answers.execute()).toHaveLength(1);
    const requests = crew.site.model.requests.filter(({ agent }) => agent === 'Anna');
    // On a busy machine the other gateway may take the run over before the call is made, and request the reply again.
    expect(requests.map(({ newCalls }) => newCalls.length).filter((calls) => calls > 0)).toEqual([1, 1]);
  });

  test('[G37] [G41] [G56] when a gateway on SQLite is killed, its successor continues at once, because no other gateway can have its leases', async () => {
    const death = deathOfFirst(({ agent, newCalls }) => agent === 'Anna' && newCalls.length > 0);
    await using crew = await openCrew({
      kind: 'sqlite',
      // Neither the end of the lease nor a sweep comes before the test gives up.
      leaseMs: 600_000,
      env: { TEST_SWEEP_MS: '600000' },
      decide: (request) => (death.isDue(request) ? death.wait(request) : doDuties(request)),
    });
    await say(crew.first.url, 'North', 'Anna: charge m1');
    await crew.crash(await death.victim);
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    expect(await crew.site.effects()).toHaveLength(1);
    const runs = await crew.site.db.selectFrom('runs').select('status').where('status', '!=', 'completed').execute();
    expect(runs).toEqual([]);
  });

  test('[G13] when a gateway is killed between two runs, the next one goes on from what the last one left', async () => {
    await using crew = await openCrew({ kind: 'postgres', decide: doDuties });
    await say(crew.first.url, 'North', 'Anna: look_up m1');
    await crew.answered('m1');
    expect(await crew.problems()).toEqual([]);
    const survivor = await crew.crash('a');
    await say(survivor.url, 'North', 'Anna: answer m2');
    await crew.answered('m2');
    const seen = crew.site.model.requests.findLast(({ agent, newCalls }) => agent === 'Anna' && newCalls.length === 0);
    expect(seen?.gateway).toBe(survivor.name);
    expect(dutiesOf(seen ?? { agent: '', events: [] }).map(({ ref }) => ref)).toEqual(['m1', 'm2']);
    expect(seen?.calls.map(({ name }) => name)).toEqual(['look_up', 'send_message']);
    // The active space is part of it.
    expect(seen?.activeSpaceId).toBe(seen?.events[0]?.data.spaceId);
    expect(await crew.problems()).toEqual([]);
  });
});

const never = new Promise<never>(() => {});

/** Keeps the first matching request waiting, so that its gateway can be killed meanwhile. */
function deathOfFirst(isOne: (request: ModelRequest) => boolean): {
  readonly victim: Promise<string>;
  isDue(request: ModelRequest): boolean;
  wait(request: ModelRequest): Promise<never>;
} {
  const { promise: victim, resolve } = Promise.withResolvers<string>();
  let isOver = false;
  return {
    victim,
    isDue: (request) => !isOver && isOne(request),
    wait({ gateway }) {
      isOver = true;
      resolve(gateway);
      return never;
    },
  };
}

/** One reply that sends a message, and charges. */
function sendAndCharge(request: ModelRequest): ModelReply {
  const [duty] = dutiesOf(request);
  if (duty === undefined || request.newCalls.length > 0) return { text: 'Done.' };
  return inSpace(request, duty, [
    { name: 'send_message', input: { text: answerText(duty.ref) } },
    { name: 'charge', input: { ref: duty.ref } },
  ]);
}

/** One reply that enters a space, records two things, and sends a message. */
function recordTwice(request: ModelRequest): ModelReply {
  const [duty] = dutiesOf(request);
  if (duty === undefined || request.newCalls.length > 0) return { text: 'Done.' };
  const { ref, spaceId } = duty;
  return {
    calls: [
      { name: 'enter_space', input: { spaceId } },
      { name: 'record', input: { ref } },
      { name: 'record', input: { ref: `${ref}-again` } },
      { name: 'send_message', input: { text: answerText(ref) } },
    ],
  };
}

/** The inputs shown in spaces, call by call, joined from their deltas. */
async function writtenInputs({ site }: Crew): Promise<string[]> {
  const events = await site.db
    .selectFrom('stream_events')
    .select(['type', 'payload'])
    .where('type', 'in', ['tool-call.start', 'tool-input-delta'])
    .where('stream', 'like', 'space:%')
    .orderBy('stream')
    .orderBy('seq')
    .execute();
  const written = new Map<string, string>();
  for (const { payload } of events) {
    const { callId, delta = '' } = fromJson<{ callId: string; delta?: string }>(payload);
    written.set(callId, `${written.get(callId) ?? ''}${delta}`);
  }
  return [...written.values()];
}

async function streamed({ site }: Crew, type: string): Promise<object[]> {
  return await site.db.selectFrom('stream_events').select('seq').where('type', '=', type).execute();
}

async function outcomesOf({ site }: Crew, toolName: string): Promise<string[]> {
  const calls = await site.db.selectFrom('calls').select('outcome').where('tool_name', '=', toolName).execute();
  return calls.map(({ outcome }) => {
    const { status, code } = fromJson<{ status: string; code?: string }>(outcome ?? '{}');
    return code === undefined ? status : `${status} ${code}`;
  });
}

/** Kills the gateway inside its first call of a tool; the message is answered nevertheless. */
async function crashInsideCall(options: Pick<CrewOptions, 'kind' | 'decide'>): Promise<Crew> {
  const inside = Promise.withResolvers<string>();
  let crashed = false;
  const crew = await openCrew({
    ...options,
    leaseMs: STEADY_LEASE_MS,
    async onTool({ gateway }) {
      inside.resolve(gateway);
      if (!crashed) await never;
    },
  });
  await say(crew.first.url, 'North', 'Anna: record m1');
  const victim = await inside.promise;
  crashed = true;
  await crew.crash(victim);
  await crew.answered('m1');
  return crew;
}
