import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { draft, lastRun, stopOf, waitingIn } from './forking.ts';
import { countingDesk, deskModel, endsOfMachine, storedOf, usualDay } from './machine-desk.ts';

const by = { key: true, keyId: 'key' } as const;

/** Gives results to all calls of the draft that wait, until none does. Returns their tools, in order. */
async function answerAll(
  world: World,
  contextId: string,
  results: Readonly<Record<string, string>>,
): Promise<string[]> {
  const answered: string[] = [];
  for (;;) {
    const waiting = await waitingIn(world, contextId);
    if (waiting.length === 0) return answered;
    for (const { id, run_id, tool_name } of waiting) {
      answered.push(tool_name);
      const result = results[tool_name] ?? '';
      await answer(world.services, { callId: id, runId: run_id, answer: { result }, by });
    }
    await world.idle();
  }
}

const RESULTS = { pay: 'Paid 1, as number 9.', order: 'Ordered 5, as number 7.' };

describeWorlds(
  'drafts of machines',
  (open) => {
    test('[S25] a draft of a machine has other nodes, acts outside only through people, continues, and can be asked again', async () => {
      const { ran, definitions } = countingDesk();
      const usual = deskModel(usualDay);
      const other = deskModel(() => 'Closed by another.');
      const world = await open({ models: { default: usual, other }, definitions });
      const { bot, space } = await lobby(world, { definition: 'desk', instructions: 'Be brief.' });
      const { db } = world.store;
      const stored = async () => [
        await storedOf(world, bot),
        await db.selectFrom('messages').selectAll().execute(),
        await db.selectFrom('agents').selectAll().where('id', '=', bot).execute(),
      ];
      const before = await stored();
      const nodes = { closer: { instructions: 'You are the closer. Close well.', model: 'other' } };
      const message = 'Pay 1, order 5 twice, and close.';
      const first = await draft(world, bot, { message }, { instructions: 'Be kind.', nodes });
      expect(await stopOf(world, first.runId)).toMatchObject({ status: 'waiting', reason: 'suspended' });
      expect(await answerAll(world, first.contextId, RESULTS)).toEqual(['pay', 'order', 'order']);
      const ended = await lastRun(world, first.contextId);
      expect(await getRunDetails(db, ended)).toMatchObject({
        response: 'Closed by another.',
        draft: { changes: { instructions: 'Be kind.' }, nodes },
        trial: { kind: 'draft' },
      });
      const [closing] = other.requests;
      const system = String(closing?.prompt[0]?.content);
      expect(system).toContain('Close well.');
      expect(system).toContain('Be kind.');
      expect(ran).toMatchObject({ pay: 0, order: 0, close: 1 });

      // The machine continues where it is, with other changes.
      const count = usual.requests.length;
      const changed = { closer: { instructions: 'You are the closer. Say more.' } };
      const second = await draft(world, bot, { message: 'And?', after: ended }, { nodes: changed });
      expect(await stopOf(world, second.runId)).toMatchObject({ status: 'completed', response: 'Closed.' });
      const going = JSON.stringify(usual.requests[count]?.prompt);
      for (const text of ['Say more.', 'Closed by another.', message, 'And?']) expect(going).toContain(text);

      // The first message again: calls get the outcomes that a person gave, and transitions are taken as before.
      const again = await draft(world, bot, { again: ended });
      expect(await stopOf(world, again.runId)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect(await getRunDetails(db, again.runId)).toMatchObject({
        draft: { again: first.runId },
        trial: { kind: 'draft', runId: first.runId },
      });
      expect((await endsOfMachine(world, again.runId)).join()).toContain('Paid 1, as number 9.');
      expect(ran).toMatchObject({ pay: 0, order: 0 });
      const late = await draft(world, bot, { again: second.runId });
      expect(await stopOf(world, late.runId)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect(JSON.stringify(usual.requests.at(-1)?.prompt)).toContain('Closed by another.');

      expect(await stored()).toEqual(before);
      expect(world.heard(space)).toEqual(['member.joined', 'member.joined']);
    });

    test('[S25] a draft of a machine that cannot work is refused, and stores nothing', async () => {
      const { definitions } = countingDesk();
      const world = await open({ models: { default: deskModel(() => 'Done.') }, definitions });
      const bot = await world.agent('Bot', { definition: 'crew' });
      const plain = await world.agent('Plain');
      const { runId } = await draft(world, bot, { message: 'Hi.' });
      expect(await stopOf(world, runId)).toMatchObject({ response: 'Done.' });
      const count = async () => (await world.store.db.selectFrom('forks').select('thread_id').execute()).length;
      const before = await count();
      const nodes = { boss: { instructions: 'x' } };
      await expect(draft(world, bot, { message: 'Hi.' }, { nodes })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('Its nodes are: lead, asker, looker.'),
      });
      await expect(draft(world, plain, { message: 'Hi.' }, { nodes })).rejects.toMatchObject({
        code: 'invalid_request',
      });
      for (const input of [{ again: runId }, { message: 'Hi.', after: runId }])
        await expect(draft(world, bot, input, { definition: null })).rejects.toMatchObject({
          code: 'not_forkable',
          message: expect.stringContaining('was a machine in it, and is none'),
        });
      expect(await count()).toBe(before);
    });

    test('[S25] a message to a machine whose model failed is sent again', async () => {
      const { definitions } = countingDesk();
      let isDown = true;
      const model = scriptedModel(() => {
        if (isDown) throw new Error('The model is down.');
        return 'Up again.';
      });
      const world = await open({ models: { default: model }, definitions });
      const bot = await world.agent('Bot', { definition: 'desk' });
      const failed = await draft(world, bot, { message: 'Are you there?' });
      expect(await stopOf(world, failed.runId)).toMatchObject({ status: 'failed' });
      isDown = false;
      const again = await draft(world, bot, { again: failed.runId });
      expect(await stopOf(world, again.runId)).toMatchObject({ response: 'Up again.' });
      expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Are you there?');
    });
  },
  databases,
);
