import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { cancelWaiting } from '../../src/domain/calls/cancel-waiting.ts';
import { offerLapsed } from '../../src/domain/calls/offer-lapsed.ts';
import { verifyWebhook } from '../../src/domain/calls/webhook-signature.ts';
import { newId } from '../../src/domain/new-id.ts';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { JobAnnouncements } from '../../src/runtime/jobs/job-announcements.ts';
import type { Outgoing } from '../../src/runtime/tools/http/http-tool.ts';
import { KnownSecrets } from '../../src/telemetry/known-secrets.ts';
import { createSecrets } from '../../src/telemetry/secrets.ts';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { openWaiting } from '../calls/open-waiting.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import { startWebSite, type WebSite } from '../support/web-site.ts';

const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const jobs = (site: WebSite) => ({ webhook: { url: `${site.url}/jobs`, signingSecret: '${env.JOB_KEY}' } });

function outgoingTo(site: WebSite): Outgoing & AsyncDisposable {
  const egress = createEgress({ allow: [site.host] });
  const secrets = createSecrets({ env: { JOB_KEY: KEY }, names: ['JOB_KEY'], known: new KnownSecrets() });
  return { egress, secrets, [Symbol.asyncDispose]: () => egress.close() };
}

test('[X2] a job is announced to the webhook of the agent, signed, and the worker behind it claims and answers', async () => {
  await using site = await startWebSite((_request, response) => response.writeHead(204).end());
  const model = scriptedModel([{ toolName: 'haul', input: { ref: 'm1' } }, 'Waiting.', 'It is done.']);
  await using gateway = await startTestGateway({
    model,
    agents: [{ name: 'Dock', instructions: 'Move things.', tools: ['haul'], jobs: jobs(site) }],
    tools: {
      haul: {
        executionType: 'external',
        visible: false,
        inputSchema: { type: 'object', properties: { ref: { type: 'string' } } },
      },
    },
    secrets: ['JOB_KEY'],
    env: { JOB_KEY: KEY },
    egress: { allow: [site.host] },
  });
  const [{ id: agentId }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${agentId}/events`, { source: 'test', name: 'go' });
  const { headers, body } = await waitFor(() => site.requests[0]);
  expect(await verifyWebhook({ headers, body, secrets: [KEY], isNew: () => true })).toMatchObject({ ok: true });
  const { callId, runId, ...announced } = JSON.parse(body);
  expect(announced).toEqual({ type: 'job.available', agentId, toolName: 'haul', claims: 0 });
  const { claimToken, input } = await gateway.api(`/api/jobs/${callId}/claim`, { worker: 'crane' });
  expect(input).toEqual({ ref: 'm1' });
  const answered = await gateway.request(`/api/runs/${runId}/tool-results`, { callId, result: 'moved', claimToken });
  expect(answered.status).toBe(200);
  await waitFor(() => model.requests.length === 3);
  expect(site.requests).toHaveLength(1);
});

describeIdleWorld('announcements by webhook', ({ world }) => {
  const openJob = async (agentId: string): Promise<string> => {
    const callId = newId();
    await world.in((tx) =>
      openWaiting(tx, { callId, agentId, runId: newId(), toolName: 'haul', kind: 'result', input: {}, isJob: true }),
    );
    return callId;
  };
  /** One sweep of a gateway, until all requests that it makes have ended. */
  const announce = async (outgoing: Outgoing): Promise<void> => {
    const announcements = new JobAnnouncements(world.services, outgoing);
    await announcements.tick();
    await announcements.idle();
  };
  const makeDue = async (): Promise<unknown> =>
    await world.in((tx) =>
      tx.db.updateTable('calls').set({ announce_at: 1 }).where('announce_at', 'is not', null).execute(),
    );
  const announceAt = async (callId: string): Promise<number | null> =>
    (await world.store.db.selectFrom('calls').select('announce_at').where('id', '=', callId).executeTakeFirstOrThrow())
      .announce_at;

  test('[X2] a failed announcement is repeated later with the same id; one that arrived is not', async () => {
    await using site = await startWebSite((_request, response) =>
      response.writeHead(site.requests.length < 3 ? 503 : 200).end(),
    );
    await using outgoing = outgoingTo(site);
    const callId = await openJob(await world.agent('Dock', { jobs: jobs(site) }));
    await announce(outgoing);
    await announce(outgoing);
    expect(site.requests).toHaveLength(1);
    for (let round = 0; round < 3; round++) {
      await makeDue();
      await announce(outgoing);
    }
    expect(site.requests).toHaveLength(3);
    expect(await announceAt(callId)).toBeNull();
    expect(new Set(site.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`${callId}:1`]));
  });

  test('[X2] a job that was cancelled before its announcement was due is not announced', async () => {
    await using site = await startWebSite();
    await using outgoing = outgoingTo(site);
    const callId = await openJob(await world.agent('Dock', { jobs: jobs(site) }));
    await world.in((tx) => cancelWaiting(tx, { callId }));
    await announce(outgoing);
    expect(site.requests).toEqual([]);
    expect(await announceAt(callId)).toBeNull();
  });

  test('[X2] two gateways that sweep at the same time announce a job once', async () => {
    await using site = await startWebSite();
    await using outgoing = outgoingTo(site);
    const agentId = await world.agent('Dock', { jobs: jobs(site) });
    for (let count = 0; count < 30; count++) await openJob(agentId);
    await Promise.all([announce(outgoing), announce(outgoing)]);
    const ids = site.requests.map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
  });

  test('[X2] a job that is offered again is announced again, with another id', async () => {
    await using site = await startWebSite();
    await using outgoing = outgoingTo(site);
    const callId = await openJob(await world.agent('Dock', { jobs: jobs(site) }));
    await announce(outgoing);
    await world.in((tx) =>
      tx.db.updateTable('calls').set({ claimed_until: 1, claims: 1 }).where('id', '=', callId).execute(),
    );
    expect(await offerLapsed(world.services)).toBe(1);
    await announce(outgoing);
    expect(site.requests.map(({ headers }) => headers['webhook-id'])).toEqual([`${callId}:1`, `${callId}:2`]);
    expect(JSON.parse(site.requests[1]?.body ?? '')).toMatchObject({ callId, claims: 1 });
  });

  test('[X2] [O13] a webhook that never answers delays neither the sweep nor the jobs of another agent', async () => {
    await using hanging = await startWebSite(() => {});
    await using site = await startWebSite();
    await using outgoing = outgoingTo(site);
    outgoing.egress.setAllow([site.host, hanging.host]);
    const [stuck, other] = [
      await world.agent('Stuck', { jobs: jobs(hanging) }),
      await world.agent('Dock', { jobs: jobs(site) }),
    ];
    for (let count = 0; count < 25; count++) await openJob(stuck);
    const first = await openJob(other);
    const gateway = new JobAnnouncements(world.services, outgoing);
    await gateway.tick();
    await waitFor(() => site.requests.length === 1);
    const second = await openJob(other);
    await waitFor(async () => {
      await gateway.tick();
      return site.requests.length === 2;
    });
    expect(site.requests.map(({ headers }) => headers['webhook-id'])).toEqual([`${first}:1`, `${second}:1`]);
    await waitFor(() => hanging.requests.length === 20);
    await gateway.stop();
    // Attempts that the stop broke off are neither failures nor forgotten.
    expect(JSON.stringify(world.logs)).not.toContain(stuck);
    const open = world.store.db.selectFrom('calls').select('id').where('agent_id', '=', stuck);
    expect(await open.where('announce_at', 'is not', null).execute()).toHaveLength(25);
  });

  test('without a webhook no announcement is sent or stays due', async () => {
    await using site = await startWebSite();
    await using outgoing = outgoingTo(site);
    const callId = await openJob(await world.agent('Dock'));
    await announce(outgoing);
    expect(site.requests).toEqual([]);
    expect(await announceAt(callId)).toBeNull();
  });

  test('[X8] an announcement goes through the guard, and the log of a failure does not have its key', async () => {
    await using site = await startWebSite();
    await using outgoing = outgoingTo(site);
    outgoing.egress.setAllow([]);
    await openJob(await world.agent('Dock', { jobs: jobs(site) }));
    await announce(outgoing);
    expect(site.requests).toEqual([]);
    expect(JSON.stringify(world.logs)).toContain('could not be announced to the webhook');
    expect(JSON.stringify(world.logs)).not.toContain(KEY);
  });
});

describe('the webhook of an agent in its configuration', () => {
  test.each([
    [{ url: 'http://a.example/{{input.x}}', signingSecret: '${env.K}' }, 'jobs.webhook.url'],
    [{ url: 'ftp://a.example/', signingSecret: '${env.K}' }, 'jobs.webhook.url'],
    [{ url: 'https://u:p@a.example/', signingSecret: '${env.K}' }, 'jobs.webhook.url'],
    [{ url: 'https://a.example/', signingSecret: 'plain' }, 'jobs.webhook.signingSecret'],
    [{ url: 'https://a.example/' }, 'jobs.webhook.signingSecret'],
  ])('%j is refused with its path', async (webhook, path) => {
    const agents = [{ name: 'Dock', instructions: '', jobs: { webhook } }];
    await expect(startTestGateway({ agents: agents as never })).rejects.toThrow(`agents[0].${path}`);
  });
});
