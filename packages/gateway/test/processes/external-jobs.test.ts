import { expect, test } from 'vitest';
import { readEventStream } from '../streams/event-stream.ts';
import { startWebSite } from '../support/web-site.ts';
import { doDuties } from './answering.ts';
import { type ApiAnswer, ask, request, SECRET_KEY } from './api.ts';
import { type Crew, openCrew, twoGateways } from './crew.ts';
import { findPlace, say } from './site.ts';
import { until } from './until.ts';

/** Agents whose one tool is a job. `agent` and `gateway` are more of their configurations. */
const configOf = ({ agent = {}, gateway = {} }: { agent?: object; gateway?: object } = {}): string => `
import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
const inputSchema = { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] };
const tools = { haul: { executionType: 'external', inputSchema } };
const more = ${JSON.stringify(agent)};
export default {
  ...processConfig,
  tools,
  agents: processConfig.agents.map((agent) => ({ ...agent, ...more, tools: Object.keys(tools) })),
  ...${JSON.stringify(gateway)},
};
`;

/** The next job of the agent in the gateway's stream, as a worker gets it. */
async function nextJob(url: string, agentId: string): Promise<{ callId: string; runId: string }> {
  const response = await fetch(`${url}/api/jobs/stream?agentId=${agentId}`, {
    headers: { authorization: `Bearer ${SECRET_KEY}` },
  });
  const stream = readEventStream(response);
  for (;;) {
    const event = await stream.next();
    if (event === undefined) throw new Error('The stream of jobs ended.');
    if (event.event !== 'job.available') continue;
    await stream.close();
    return event.data;
  }
}

const claim = (url: string, callId: string, body: { worker: string; leaseMs: number }) =>
  ask(url, `/api/jobs/${callId}/claim`, body);
const answer = (
  url: string,
  { runId, ...body }: { runId: string; callId: string; result: unknown; claimToken: string },
) => request(url, `/api/runs/${runId}/tool-results`, { body });

async function resultsOf({ site }: Crew): Promise<string[]> {
  const events = await site.db.selectFrom('inbox_events').select('payload').where('type', '=', 'tool_result').execute();
  return events.map(({ payload }) => payload);
}

/** Two agents, each with a job. The gateway through which both were claimed is killed, with the connections of their workers. */
async function claimAndCrash(
  crew: Crew,
): Promise<{ readonly url: string; readonly anna: Claimed; readonly cleo: Claimed }> {
  const { entities } = await findPlace(crew.first.url);
  const claimed = async (space: 'North' | 'South', agent: string, ref: string, leaseMs: number): Promise<Claimed> => {
    const agentId = entities[agent] ?? '';
    const offered = nextJob(crew.first.url, agentId);
    await say(crew.first.url, space, `${agent}: haul ${ref}`);
    const { callId, runId } = await offered;
    const { claimToken } = await claim(crew.first.url, callId, { worker: 'first', leaseMs });
    return { agentId, callId, runId, claimToken };
  };
  const anna = await claimed('North', 'Anna', 'm1', 600_000);
  const cleo = await claimed('South', 'Cleo', 'm2', 1_500);
  const { url } = await crew.crash('a');
  return { url, anna, cleo };
}

interface Claimed {
  readonly agentId: string;
  readonly callId: string;
  readonly runId: string;
  readonly claimToken: string;
}

test.each(twoGateways)(
  '[X2] a gateway on $kind is killed while jobs are claimed: a worker that lives answers through another with its claim, and one that died is replaced: its job is offered again, and answered once',
  async ({ kind }) => {
    await using crew = await openCrew({ kind, decide: doDuties, config: configOf() });
    const { url, anna, cleo } = await claimAndCrash(crew);
    const { callId, runId, claimToken } = anna;
    const refused = await request(url, `/api/jobs/${callId}/claim`, { body: { worker: 'second' } });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'job_claimed']);
    await ask(url, `/api/jobs/${callId}/heartbeat`, { claimToken, progress: { percent: 50 } });
    expect((await answer(url, { runId, callId, claimToken, result: 'hauled m1' })).status).toBe(200);
    await crew.answered('m1');

    // The other worker sends no heartbeat.
    const again = await nextJob(url, cleo.agentId);
    expect(again.callId).toBe(cleo.callId);
    const second = await until('the job can be claimed', async () => {
      const claimed: ApiAnswer = await request(url, `/api/jobs/${cleo.callId}/claim`, { body: { worker: 'second' } });
      return claimed.status === 200 && claimed.body;
    });
    expect(second).toMatchObject({ attempt: 2, input: { ref: 'm2' } });
    const hauled = { runId: cleo.runId, callId: cleo.callId, claimToken: second.claimToken, result: 'hauled m2' };
    const [late, ...done] = [
      await answer(url, { ...hauled, claimToken: cleo.claimToken, result: 'from the dead' }),
      await answer(url, hauled),
      await answer(url, hauled),
    ];
    expect([late?.status, late?.body.error.code]).toEqual([409, 'claim_lost']);
    expect(done.map(({ status, body }) => [status, body.duplicate])).toEqual([
      [200, false],
      [200, true],
    ]);
    await crew.answered('m2');
    expect(await crew.problems()).toEqual([]);
    const results = await resultsOf(crew);
    expect(results).toHaveLength(2);
    for (const ref of ['m1', 'm2']) expect(results.filter((one) => one.includes(`hauled ${ref}`))).toHaveLength(1);
  },
);

test('[X2] a gateway that dies while it announces a job is replaced: another one announces it with the same id', async () => {
  const firstAsked = Promise.withResolvers<void>();
  await using site = await startWebSite((_request, response) => {
    // The first gateway gets no answer.
    if (site.requests.length === 1) firstAsked.resolve();
    else response.writeHead(204).end();
  });
  const jobs = { webhook: { url: site.url, signingSecret: '${env.JOB_KEY}' } };
  const config = configOf({ agent: { jobs }, gateway: { egress: { allow: [site.host] }, secrets: ['JOB_KEY'] } });
  await using crew = await openCrew({ kind: 'postgres', decide: doDuties, config, env: { JOB_KEY: 'a-key-for-jobs' } });
  await say(crew.first.url, 'North', 'Anna: haul m1');
  await firstAsked.promise;
  // It is unknown which gateway it was, so both are killed, and a third one takes over.
  await crew.named('a').kill();
  await crew.named('b').kill();
  await crew.site.start('c', { JOB_KEY: 'a-key-for-jobs' });
  await until('the job is announced again', () => site.requests.length >= 2);
  const [first, second] = site.requests;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
});

test('[X2] of ten workers at two gateways one gets the job, and when its gateway dies no other gets it before the claim lapses', async () => {
  await using crew = await openCrew({ kind: 'postgres', decide: doDuties, config: configOf() });
  const { entities } = await findPlace(crew.first.url);
  const offers = ['a', 'b'].map((name) => nextJob(crew.named(name).url, entities.Anna ?? ''));
  await say(crew.first.url, 'North', 'Anna: haul m1');
  const [job, same] = await Promise.all(offers);
  expect(same?.callId).toBe(job?.callId);
  const { callId = '', runId = '' } = job ?? {};
  const claims = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      request(crew.named(index % 2 === 0 ? 'a' : 'b').url, `/api/jobs/${callId}/claim`, {
        body: { worker: `w${index}`, leaseMs: 600_000 },
      }),
    ),
  );
  expect(claims.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
  const winner = claims.findIndex(({ status }) => status === 200);
  const { url } = await crew.crash(winner % 2 === 0 ? 'a' : 'b');
  expect((await request(url, `/api/jobs/${callId}/claim`, { body: { worker: 'late' } })).status).toBe(409);
  const { claimToken } = claims[winner]?.body ?? {};
  expect((await answer(url, { runId, callId, claimToken, result: 'hauled' })).status).toBe(200);
  await crew.answered('m1');
  expect(await crew.problems()).toEqual([]);
  expect(await resultsOf(crew)).toHaveLength(1);
});
