import { scriptedModel } from '@lastcall/core/testing';
import { charter, node, to } from '@lastcall/machines';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findCommandState } from '../../src/domain/inbox/command-result.ts';
import { pushCommand } from '../../src/domain/inbox/push-command.ts';
import { defineAgent } from '../../src/index.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { performRun } from '../../src/runtime/loops/perform-run.ts';
import { RunInterrupted } from '../../src/runtime/loops/run-interrupted.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { neverCancelled } from '../support/never-cancelled.ts';
import { databases } from '../support/stores.ts';
import { type When, watched } from '../support/watched-store.ts';
import { openWorld, type World } from '../support/world.ts';

const agents = [{ name: 'Desk', definition: 'desk' }];

/** The error of a response. */
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; message: string } }).error;

/** A machine with two commands: one counts, the other leads to a node without commands. */
function counting() {
  const counted: number[] = [];
  const add = () => counted.push(1);
  const commands = {
    add: { description: 'Adds.', inputSchema: z.object({}), execute: () => add() },
    go: { description: 'Goes.', inputSchema: z.object({}), execute: () => to('other') },
  };
  const main = node({ instructions: 'Count.', commands });
  const other = node({ instructions: 'Rest.' });
  return { counted, definitions: { desk: defineAgent({ machine: charter({ nodes: { main, other } }) }) } };
}

/** The first agent of the gateway, and its commands. */
async function desk(gateway: TestGateway) {
  const [{ id }] = (await gateway.api('/api/agents')).items;
  const give = (name: string, body: object = {}) => gateway.request(`/api/agents/${id}/machine/commands/${name}`, body);
  const ping = () => gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'ping' });
  return { id: id as string, give, ping };
}

it('[A19] a command that has run is not run again with the events of its run, which failed after it', async () => {
  const { counted, definitions } = counting();
  const first = Promise.withResolvers<void>();
  const replies = [() => first.promise.then(() => 'One.'), new Error('The provider is down.'), 'Two.'];
  let at = 0;
  const model = scriptedModel(async () => {
    const reply = replies[at++];
    if (reply instanceof Error) throw reply;
    return typeof reply === 'function' ? await reply() : (reply ?? 'More.');
  });
  await using gateway = await startTestGateway({ model, definitions, agents });
  const { give, ping } = await desk(gateway);
  await ping();
  await expect.poll(() => model.requests.length).toBe(1);
  // Both wait for the end of the first run, and are then taken by the same run.
  await ping();
  const given = give('add', { idempotencyKey: 'k' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  first.resolve();
  expect(await (await given).json()).toEqual({ name: 'add', output: 1, duplicate: false });
  const runs = async (status: string) => (await gateway.api(`/api/runs?status=${status}`)).items.length;
  await expect.poll(() => runs('completed'), { timeout: 10_000 }).toBe(2);
  expect(await runs('failed')).toBe(1);
  expect(counted).toHaveLength(1);
});

it('[A19] a repeated key gets the first answer, even if the machine has no such command any more, but not for another command', async () => {
  const { definitions } = counting();
  await using gateway = await startTestGateway({ model: scriptedModel(() => 'Ok.'), definitions, agents });
  const { give } = await desk(gateway);
  expect(await (await give('go', { idempotencyKey: 'k' })).json()).toMatchObject({ duplicate: false });
  expect(await (await give('go', { idempotencyKey: 'k' })).json()).toMatchObject({ name: 'go', duplicate: true });
  expect((await give('go')).status).toBe(422);
  const other = await give('add', { idempotencyKey: 'k' });
  expect([other.status, (await errorOf(other)).code]).toEqual([422, 'idempotency_key_reused']);
});

it('[A19] a key that was used with another input is refused, and the command does not run', async () => {
  const { counted, definitions } = counting();
  await using gateway = await startTestGateway({ model: scriptedModel(() => 'Ok.'), definitions, agents });
  const { give } = await desk(gateway);
  expect((await give('add', { idempotencyKey: 'k', input: {} })).status).toBe(200);
  for (const [what, value] of [
    ['input', { amount: 5 }],
    ['instanceId', 'root'],
  ] as const) {
    const other = await give('add', { idempotencyKey: 'k', [what]: value });
    expect(other.status).toBe(422);
    expect(await errorOf(other)).toMatchObject({
      code: 'idempotency_key_reused',
      message: `This idempotency key was used for the same command with another ${what}.`,
    });
  }
  expect(await (await give('add', { idempotencyKey: 'k' })).json()).toMatchObject({ duplicate: true });
  expect(counted).toHaveLength(1);
});

it('[A19] an agent that is not active refuses commands at once', async () => {
  const { counted, definitions } = counting();
  const first = Promise.withResolvers<void>();
  const model = scriptedModel(async () => await first.promise.then(() => 'Ok.'));
  await using gateway = await startTestGateway({ model, definitions, agents });
  const { id, give, ping } = await desk(gateway);
  await ping();
  await expect.poll(() => model.requests.length).toBe(1);
  const given = give('add', { idempotencyKey: 'k' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await gateway.api(`/api/agents/${id}/pause`, {});
  const stored = await given;
  expect([stored.status, (await errorOf(stored)).code]).toEqual([409, 'agent_not_active']);
  expect((await give('add', { idempotencyKey: 'other' })).status).toBe(409);
  await gateway.api(`/api/agents/${id}/resume`, {});
  first.resolve();
  expect(await (await give('add', { idempotencyKey: 'k' })).json()).toMatchObject({ output: 1, duplicate: true });
  expect(counted).toHaveLength(1);
});

it('[A19] the caller of a command whose agent is deleted before it ran gets an answer', async () => {
  const { counted, definitions } = counting();
  const first = Promise.withResolvers<void>();
  const model = scriptedModel(async () => await first.promise.then(() => 'Ok.'));
  await using gateway = await startTestGateway({ model, definitions, agents });
  const { id, give, ping } = await desk(gateway);
  await ping();
  await expect.poll(() => model.requests.length).toBe(1);
  const given = give('add');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await gateway.request(`/api/agents/${id}`, undefined, { method: 'DELETE' });
  first.resolve();
  const answer = await given;
  expect([answer.status, (await errorOf(answer)).message]).toEqual([
    422,
    expect.stringContaining('The command did not run'),
  ]);
  expect(counted).toEqual([]);
});

describe.each(databases)('a command on $kind', ({ create }) => {
  const database = forAllTests(create);

  it('[A19] killed at every transaction of its run, a command counts once, and its caller gets its output', async () => {
    const { counted, definitions } = counting();
    const world = await openWorld({ database, models: { default: scriptedModel(() => 'Ok.') }, definitions });
    const registry = { ...world.registry, toolCaches: new ToolCaches() };
    const work = async (services: World['services'], bot: string, abort = new AbortController()) => {
      const transcriptCache = new TranscriptCache();
      const taken = await claimNextRun(services, registry, bot, { owner: 'me', isUrgent: false, transcriptCache });
      if (taken !== undefined) await performRun(services, registry, taken.run, neverCancelled(abort));
    };
    const killed = async (at: number, when: When): Promise<number> => {
      counted.length = 0;
      const bot = await world.agent('Bot', { definition: 'desk' });
      const given = { agentId: bot, threadId: bot, name: 'add', input: {} };
      const { eventId } = await world.in((tx) => pushCommand(tx, given));
      const abort = new AbortController();
      const { store, count } = watched(world.store, at, when, () => abort.abort(new RunInterrupted()));
      await work({ ...world.services, store }, bot, abort).catch((error: Error) => {
        if (error.name !== 'RunInterrupted') throw error;
      });
      await world.in((tx) =>
        tx.db.updateTable('threads').set({ lease_owner: null, lease_until: 0 }).where('id', '=', bot).execute(),
      );
      await work(world.services, bot);
      const end = await findCommandState(world.store.db, { threadId: bot, eventId });
      // Changes of a command before its record was stored do not count, so it runs again.
      expect([when, at, end]).toEqual([
        when,
        at,
        { status: 'ended', end: expect.objectContaining({ output: counted.length }) },
      ]);
      return count();
    };
    const transactions = await killed(Number.POSITIVE_INFINITY, 'before');
    expect(counted).toHaveLength(1);
    expect(transactions).toBeGreaterThan(1);
    for (let at = 2; at <= transactions; at++) for (const when of ['before', 'after'] as const) await killed(at, when);
    await world.stop();
  });
});

it('[E1] [E2] a fork takes no commands, because a command may act outside', async () => {
  const { counted, definitions } = counting();
  await using gateway = await startTestGateway({ model: scriptedModel(() => 'Hello.'), definitions, agents });
  const { id } = await desk(gateway);
  const { run_id } = await gateway.api('/api/chat', { agent: 'Desk', message: 'Hello.' });
  const { runId, contextId } = await gateway.api(`/api/runs/${run_id}/forks`, { atStep: 1 });
  await expect.poll(async () => (await gateway.api(`/api/runs/${runId}`)).status).toBe('completed');
  const refused = await gateway.request(`/api/agents/${id}/machine/commands/add?contextId=${contextId}`, {});
  expect(refused.status).toBe(422);
  expect(await errorOf(refused)).toMatchObject({ code: 'command_failed', message: expect.stringContaining('a fork') });
  expect(counted).toEqual([]);
});
