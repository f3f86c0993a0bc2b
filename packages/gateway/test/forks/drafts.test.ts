import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { lastTasks } from '../../src/domain/evaluations/task.ts';
import { listForks } from '../../src/domain/forks/fork.ts';
import { listRuns } from '../../src/domain/runs/run.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { countingTools, draft, endsOf, lastRun } from './forking.ts';

const calls = (...inputs: [toolName: string, input: object][]) => ({
  calls: inputs.map(([toolName, input], index) => ({ toolName, input, toolCallId: `${toolName}-${index}` })),
});
const by = { key: true, keyId: 'key' } as const;

const detailsOf = ({ store }: World, runId: string) => getRunDetails(store.db, runId);

/** The tables of conversations and their costs. A draft has rows in them, and does not change other rows. */
const OF_CONVERSATIONS = [
  ...['threads', 'contexts', 'forks', 'runs', 'transcript_entries', 'calls', 'inbox_events', 'request_texts'],
  ...['stream_events', 'streams', 'usage_requests', 'usage_days', 'spend_days', 'search_texts', 'search_state'],
];

/** All rows outside of drafts. */
async function storedOutside({ store: { db } }: World): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const tables = await db.introspection.getTables();
  const names = tables
    .map(({ name }) => name)
    .filter((name) => !OF_CONVERSATIONS.includes(name) && !/^(kysely|search)/.test(name));
  const stored: Record<string, readonly unknown[]> = {};
  for (const name of names) {
    const rows = await db
      .selectFrom(name as 'spaces')
      .selectAll()
      .execute();
    stored[name] = rows.map((row) => JSON.stringify(row)).toSorted();
  }
  return stored;
}

describeWorlds(
  'drafts',
  (open) => {
    test('[S25] a draft has its own configuration, and nothing of it reaches spaces, goals, memories, plans, files or the agent', async () => {
      const { ran, tools } = countingTools();
      const busy = calls(
        ['set_memories', { memories: [{ key: 'colour', value: 'red' }] }],
        ['set_goals', { goals: [{ description: 'Win.' }] }],
        ['set_plans', { plans: [{ key: 'p', name: 'Later', instruction: 'Go.', after: 'PT1H' }] }],
        ['send_message', { text: 'Hello, everyone.' }],
        ['look', { n: 1 }],
        ['pay', { n: 2 }],
      );
      const model = scriptedModel([{ text: 'Hello.' }]);
      const other = scriptedModel([
        ...[busy, { text: 'Paid, it seems.' }],
        ...[calls(['read_messages', { spaceId: '1' }]), { text: 'I read it.' }],
      ]);
      const world = await open({ models: { default: model, other }, tools });
      const { ada, bot, space } = await lobby(world, { replies: 'text', instructions: 'Be kind.', tools: ['look'] });
      await world.say(space, ada, 'Go.');
      await world.idle();
      const before = await storedOutside(world);
      expect(Object.keys(before)).toEqual(
        expect.arrayContaining([
          'messages',
          'spaces',
          'memberships',
          'goals',
          'memories',
          'plans',
          'files',
          'agents',
          'agent_versions',
        ]),
      );
      const heard = world.heard(space).length;
      const promptAfter = async (contextId: string) => {
        const after = await lastRun(world, contextId);
        await draft(world, bot, { message: 'What was said?', after }, { model: 'other' });
        // Reads are executed.
        expect(JSON.stringify(other.requests[3]?.prompt)).toContain('Hello.');
        return other.requests[2]?.prompt;
      };

      const changes = {
        instructions: 'Be brief.',
        model: 'other',
        settings: { temperature: 0.3 },
        tools: ['pay', 'look'],
      };
      const started = await draft(world, bot, { message: 'Pay 2.' }, changes);
      const run = await detailsOf(world, started.runId);
      expect(run).toMatchObject({
        status: 'waiting',
        stop: { reason: 'suspended' },
        configVersion: 1,
        draft: { changes },
      });
      expect(run.fork).toBeUndefined();
      const [request] = other.requests;
      expect(request?.temperature).toBe(0.3);
      expect(JSON.stringify(request?.prompt)).toContain('Be brief.');
      expect(JSON.stringify(request?.prompt)).not.toContain('Be kind.');
      // It is tried as if in its spaces, with the built-in tools, which only report what they would do.
      expect(request?.tools?.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['look', 'pay', 'send_message', 'read_messages', 'set_memories', 'set_plans']),
      );
      const ends = (await endsOf(world, started.runId)).map((end) => JSON.parse(end));
      expect(ends.map(({ toolName, outcome }) => `${toolName} ${outcome.status}`)).toEqual([
        ...['set_memories ok', 'set_goals ok', 'set_plans ok', 'send_message ok', 'look ok', 'pay pending'],
      ]);
      // A call with external effects waits, and runs only if its tool is named.
      expect(ran).toEqual({ pay: 0, look: 1 });
      const waiting = await world.store.db
        .selectFrom('calls')
        .selectAll()
        .where('thread_id', '=', started.contextId)
        .where('wait_status', '=', 'pending')
        .execute();
      expect(waiting).toMatchObject([{ tool_name: 'pay', space_id: null, offered_at: null, answerers: null }]);
      const asked = { ...started, callId: waiting[0]?.id ?? '' };
      await expect(answer(world.services, { ...asked, answer: { approve: true }, by })).rejects.toMatchObject({
        code: 'not_confirmed',
      });
      await answer(world.services, { ...asked, answer: { result: 'Paid by hand.' }, by });
      await world.idle();
      expect(await detailsOf(world, await lastRun(world, started.contextId))).toMatchObject({
        status: 'completed',
        response: 'Paid, it seems.',
        draft: { changes },
      });
      expect(ran.pay).toBe(0);
      expect(world.heard(space)).toHaveLength(heard);
      expect(await storedOutside(world)).toEqual(before);
      expect(model.requests).toHaveLength(1);
      // Only the draft sees its changes, also later in the same conversation.
      for (const prompt of [other.requests[1]?.prompt, await promptAfter(started.contextId)])
        expect(JSON.stringify(prompt)).toContain('colour: red');
      expect(await storedOutside(world)).toEqual(before);
      // It is not a task of the agent, and not a fork of a run.
      const tasks = await lastTasks(world.store.db, bot, {});
      expect(JSON.stringify(tasks)).not.toContain('Pay 2.');
    });

    test('[S25] a conversation with a draft continues with other changes, and its last message can be answered again', async () => {
      const { ran, tools } = countingTools();
      const model = scriptedModel([
        ...[calls(['pay', { n: 1 }], ['look', { n: 1 }]), { text: 'Paid 1.' }],
        ...[calls(['look', { n: 2 }]), { text: 'Looked.' }],
        calls(['look', { n: 2 }], ['pay', { n: 1 }]),
        // The first message again: the answer that a person gave is recorded with it.
        ...[calls(['pay', { n: 1 }]), { text: 'Paid as before.' }],
      ]);
      const world = await open({ models: { default: model }, tools });
      const bot = await world.agent('Bot', { instructions: 'One.', tools: ['pay', 'look'] });
      const first = await draft(world, bot, { message: 'Pay 1.' });
      const call = await world.store.db
        .selectFrom('calls')
        .select('id')
        .where('thread_id', '=', first.contextId)
        .where('wait_status', '=', 'pending')
        .executeTakeFirstOrThrow();
      // Waiting and running calls have to end first.
      await expect(draft(world, bot, { message: 'More.', after: first.runId })).rejects.toMatchObject({
        code: 'context_in_use',
      });
      await answer(world.services, { ...first, callId: call.id, answer: { result: 'Paid by hand.' }, by });
      await world.idle();
      const ended = await lastRun(world, first.contextId);

      const second = await draft(world, bot, { message: 'Look 2.', after: ended }, { instructions: 'Two.' });
      expect(await detailsOf(world, second.runId)).toMatchObject({
        response: 'Looked.',
        draft: { changes: { instructions: 'Two.' }, after: ended },
      });
      const promptOf = (index: number) => JSON.stringify(model.requests[index]?.prompt);
      for (const text of ['Two.', 'Pay 1.', 'Paid by hand.', 'Paid 1.', 'Look 2.']) expect(promptOf(2)).toContain(text);
      expect(promptOf(2)).not.toContain('One.');
      expect(ran).toEqual({ pay: 0, look: 2 });

      // The same message with other instructions: the call that was made before gets its outcome, and the new one waits.
      const again = await draft(world, bot, { again: second.runId }, { instructions: 'Three.' });
      expect(await detailsOf(world, again.runId)).toMatchObject({
        status: 'waiting',
        number: (await detailsOf(world, second.runId)).number,
        draft: { changes: { instructions: 'Three.' }, again: second.runId, after: ended },
      });
      for (const text of ['Three.', 'Pay 1.', 'Look 2.']) expect(promptOf(4)).toContain(text);
      expect(promptOf(4)).not.toContain('Looked.');
      expect(ran).toEqual({ pay: 0, look: 2 });
      expect((await endsOf(world, again.runId)).join()).toContain('Saw 2, as number 2.');

      // A later run of the turn names the first run.
      const whole = await draft(world, bot, { again: ended }, { instructions: 'Four.' });
      expect(await detailsOf(world, whole.runId)).toMatchObject({ status: 'completed', draft: { again: first.runId } });
      expect((await endsOf(world, whole.runId)).join()).toContain('Paid by hand.');
      expect(ran.pay).toBe(0);
      expect((await listForks(world.store.db, second.runId)).items).toEqual([]);
      const listed = new Map((await listRuns(world.store.db)).items.map(({ id, trial }) => [id, trial]));
      expect([second, again].map(({ runId }) => listed.get(runId))).toEqual([
        { kind: 'draft' },
        { kind: 'draft', runId: second.runId },
      ]);
      // Earlier messages have not changed.
      expect(await detailsOf(world, second.runId)).toMatchObject({ response: 'Looked.' });
    });

    test('[S25] a draft that cannot work is refused before anything is stored, and a failed message can be sent again', async () => {
      let isDown = true;
      const model = scriptedModel(() => {
        if (isDown) throw new Error('The model is down.');
        return { text: 'Up again.' };
      });
      const world = await open({ models: { default: model }, tools: countingTools().tools });
      const [bot, other] = [await world.agent('Bot', { instructions: 'One.' }), await world.agent('Other', {})];
      const { db } = world.store;
      const count = async () => (await db.selectFrom('contexts').select('id').execute()).length;
      const before = await count();
      await expect(draft(world, bot, { message: 'Hi.' }, { instructions: 7 })).rejects.toMatchObject({
        code: 'invalid_config',
      });
      await world.in(({ db: tx }) =>
        tx.updateTable('agents').set({ status: 'paused' }).where('id', '=', other).execute(),
      );
      await expect(draft(world, other, { message: 'Hi.' })).rejects.toMatchObject({ code: 'agent_not_active' });
      await expect(draft(world, bot, { again: 'nothing' })).rejects.toMatchObject({ code: 'not_found' });
      expect(await count()).toBe(before);

      const failed = await draft(world, bot, { message: 'Hi.' });
      expect(await detailsOf(world, failed.runId)).toMatchObject({ status: 'failed' });
      isDown = false;
      const again = await draft(world, bot, { again: failed.runId }, { instructions: 'Two.' });
      expect(await detailsOf(world, again.runId)).toMatchObject({
        response: 'Up again.',
        draft: { again: failed.runId },
      });
      expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('Hi.');
      await world.in(({ db: tx }) =>
        tx.updateTable('agents').set({ status: 'active' }).where('id', '=', other).execute(),
      );
      await expect(draft(world, other, { again: failed.runId })).rejects.toMatchObject({ code: 'invalid_request' });
    });
  },
  databases,
);
