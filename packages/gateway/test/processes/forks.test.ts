import { expect, test } from 'vitest';
import { ask, request } from './api.ts';
import { kinds, openCrew } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { until } from './until.ts';

/**
 * Charges, records, and answers. If the request says so, it then charges something else. In a fork, the gateway gets no reply after
 * the charge until it is killed.
 */
const decide =
  (holds: (gateway: string) => boolean) =>
  ({ gateway, calls, said }: ModelRequest): ModelReply => {
    const has = (name: string, ref: string): boolean =>
      calls.some((call) => call.name === name && call.input.ref === ref);
    if (!has('charge', 'c')) return { calls: [{ name: 'charge', input: { ref: 'c' } }] };
    if (holds(gateway)) return { text: '…', calls: [], hold: new Promise(() => {}) };
    if (!has('record', 'c')) return { calls: [{ name: 'record', input: { ref: 'c' } }] };
    const isTold = said.includes('Charge d too.');
    if (isTold && !has('charge', 'd')) return { calls: [{ name: 'charge', input: { ref: 'd' } }] };
    return { text: 'Done.' };
  };

interface Run {
  readonly status: string;
  readonly stop?: { readonly reason: string };
}

test.each(kinds)(
  '[E1] [E2] a gateway on $kind is killed in the middle of a fork: nothing happens outside, until a person names the tool and confirms it',
  async ({ kind }) => {
    let isFork = false;
    let held: string | undefined;
    const holds = (gateway: string): boolean => {
      if (isFork) held ??= gateway;
      return held === gateway;
    };
    await using crew = await openCrew({ kind, leaseMs: 1_000, decide: decide(holds) });
    const { url } = crew.first;
    const { run_id: original } = await ask(url, '/chat', { agent: 'Anna', message: 'Charge and record c.' });
    const effects = async (): Promise<string[]> =>
      (await crew.site.effects()).map(({ toolName, ref }) => `${toolName} ${ref}`);
    expect(await effects()).toEqual(['charge c', 'record c']);

    isFork = true;
    const body = { atStep: 1, changes: { message: 'Charge d too.' } };
    const fork = await ask(url, `/api/runs/${original}/forks`, body);
    const running = await until('the model is asked after the charge', () => held);
    const living = await crew.crash(running);
    const settled = async (runId: string): Promise<Run> =>
      await until('the run ends', async () => {
        const run: Run = await ask(living.url, `/api/runs/${runId}`);
        return run.status !== 'running' && run.status !== 'queued' && run;
      });
    expect((await settled(fork.runId)).stop).toMatchObject({ reason: 'suspended' });
    expect(await effects()).toEqual(['charge c', 'record c']);

    const { items } = await ask(living.url, `/api/pending?limit=10`);
    expect(items).toMatchObject([{ toolName: 'charge', kind: 'approval', input: { ref: 'd' }, runId: fork.runId }]);
    const [{ callId }] = items;
    const results = `/api/runs/${fork.runId}/tool-results`;
    const unnamed = await request(living.url, results, { body: { callId, approve: true } });
    expect([unnamed.status, unnamed.body.error.code]).toEqual([409, 'not_confirmed']);
    const wrong = await request(living.url, results, { body: { callId, approve: true, runForReal: 'record' } });
    expect([wrong.status, wrong.body.error.code]).toEqual([409, 'not_confirmed']);
    expect(await effects()).toEqual(['charge c', 'record c']);
    const answer = await ask(living.url, results, { callId, approve: true, runForReal: 'charge' });
    expect((await settled(answer.runId)).stop).toMatchObject({ reason: 'end_turn' });
    expect(await effects()).toEqual(['charge c', 'record c', 'charge d']);
    const { items: audited } = await ask(living.url, '/api/audit?limit=5');
    expect(audited[0]).toMatchObject({ action: 'run_for_real', subject: { kind: 'call', id: callId } });
    expect(crew.site.model.problems).toEqual([]);
  },
);
