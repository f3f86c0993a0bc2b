import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { listForks } from '../../src/domain/forks/fork.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { fork, lastRun, stopOf, waitingIn } from './forking.ts';
import {
  type Asked,
  call,
  countingDesk,
  deskModel,
  endsOfMachine,
  entriesOf,
  requestsOfMachine,
  storedOf,
  usualDay,
} from './machine-desk.ts';

const by = { key: true, keyId: 'key' } as const;

/** The step in which a node was asked for the n-th time. */
async function stepOf({ store }: World, runId: string, node: string, time = 1): Promise<number> {
  const replies = await entriesOf(store.db, runId, ['reply']);
  const steps = replies.flatMap(({ entry }, index) => (entry.node === node ? [index + 1] : []));
  return steps[time - 1] ?? 0;
}

const NOTHING = { pay: 0, order: 0, look: 0, close: 0, audit: 0 };

describeWorlds(
  'forks of machines',
  (open) => {
    test('[E1] [E2] a fork at any step without changes has the requests and outcomes of the original, also in the middle of parallel work', async () => {
      const { ran, definitions } = countingDesk();
      const world = await open({ models: { default: deskModel(usualDay) }, definitions });
      const chat = await chatWith(world, { definition: 'desk' });
      const { runId } = await chat.say('Pay 1, order 5 twice, and close.');
      const closed = { status: 'completed', response: 'Closed.' };
      expect(await stopOf(world, runId)).toMatchObject(closed);
      const once = { pay: 1, order: 2, look: 3, close: 1, audit: 0 };
      expect(ran).toEqual(once);
      const before = await storedOf(world, chat.contextId);
      const requests = await requestsOfMachine(world, runId);
      expect(requests).toHaveLength(8);
      for (let atStep = 1; atStep <= requests.length; atStep++) {
        const forked = await fork(world, runId, { atStep });
        expect(await stopOf(world, forked.runId), `at ${atStep}`).toMatchObject(closed);
        expect(await requestsOfMachine(world, forked.runId), `at ${atStep}`).toEqual(requests);
        expect(await endsOfMachine(world, forked.runId), `at ${atStep}`).toEqual(await endsOfMachine(world, runId));
      }
      expect(ran).toEqual(once);
      expect(await storedOf(world, chat.contextId)).toEqual(before);
    });

    test('[E2] a call or a transition that the original did not make waits if it acts outside, and runs only if its tool is named', async () => {
      // A policy that approves every call counts only for the original.
      const { ran, definitions } = countingDesk({ policies: [{ name: 'easy', approveCall: () => true }] });
      const model = deskModel(({ who, said }: Asked) => {
        if (who === 'closer') return 'Closed.';
        if (!said.includes('Pay 7')) return said.includes('Paid 1') ? 'Paid.' : call('pay', { n: 1 });
        // It changes its state, which has no external effects, and then makes two calls that have.
        if (!said.includes('State updated')) return call('updateState', { paid: 3 });
        if (said.includes('Audit')) return call('transition_audit');
        return said.includes('by hand') || said.includes('Not now') || said.includes('Paid 7')
          ? 'Ended.'
          : call('pay', { n: 7 });
      });
      const world = await open({ models: { default: model }, definitions });
      const chat = await chatWith(world, { definition: 'desk' });
      const { runId } = await chat.say('Pay 1.');
      expect(ran.pay).toBe(1);
      const ask = async (message: string) => {
        const forked = await fork(world, runId, { message });
        expect(await stopOf(world, forked.runId)).toMatchObject({ status: 'waiting', reason: 'suspended' });
        const [waiting, ...others] = await waitingIn(world, forked.contextId);
        expect(others).toEqual([]);
        expect(waiting).toMatchObject({ wait_kind: 'approval', space_id: null, answerers: null, offered_at: null });
        return { ...forked, callId: waiting?.id ?? '', toolName: waiting?.tool_name };
      };
      const ended = async (forked: { contextId: string }) => {
        await world.idle();
        return await stopOf(world, await lastRun(world, forked.contextId));
      };

      const approved = await ask('Pay 7.');
      for (const wrong of [{}, { runForReal: 'look' }])
        await expect(
          answer(world.services, { ...approved, answer: { approve: true, ...wrong } as never, by }),
        ).rejects.toMatchObject({ code: 'not_confirmed' });
      await world.idle();
      expect(ran.pay).toBe(1);
      await answer(world.services, { ...approved, answer: { approve: true, runForReal: 'pay' } as never, by });
      expect(await ended(approved)).toMatchObject({ status: 'completed', response: 'Ended.' });
      expect(ran.pay).toBe(2);

      const given = await ask('Pay 7.');
      await answer(world.services, { ...given, answer: { result: 'Paid by hand.' }, by });
      expect(await ended(given)).toMatchObject({ status: 'completed', response: 'Ended.' });
      const denied = await ask('Pay 7.');
      await answer(world.services, { ...denied, answer: { deny: 'Not now.' }, by });
      expect(await ended(denied)).toMatchObject({ status: 'completed', response: 'Ended.' });
      expect(ran.pay).toBe(2);
      const prompts = model.requests.map(({ prompt }) => JSON.stringify(prompt));
      for (const told of ['Paid by hand.', 'Not now.', 'Paid 7, as number 2.'])
        expect(prompts.some((prompt) => prompt.includes(told))).toBe(true);
      // The state as the fork changed it, plus the change of the call that really ran.
      expect(prompts.some((prompt) => prompt.includes('{\\"paid\\":10}'))).toBe(true);

      const audited = await ask('Pay 7: Audit.');
      expect([audited.toolName, ran.audit]).toEqual(['transition_audit', 0]);
      await answer(world.services, {
        ...audited,
        answer: { approve: true, runForReal: 'transition_audit' } as never,
        by,
      });
      expect(await ended(audited)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect(ran).toEqual({ ...NOTHING, pay: 2, audit: 1 });
    });

    test('[E1] [E2] a fork begins with the calls that waited at its step, and their answers count only in the fork', async () => {
      const { ran, definitions } = countingDesk();
      // The asker waits for approval, while the looker goes on.
      const model = deskModel(({ who, said }: Asked) => {
        if (who === 'lead') return said.includes('has finished') ? 'All done.' : call('transition_hire');
        if (who === 'asker')
          return said.includes('ask_first') ? call('transition_report', { found: 'Asked.' }) : call('ask_first');
        if (said.includes('Saw 2')) return call('transition_report', { found: 'Seen.' });
        return said.includes('Saw 1') ? call('look', { n: 2 }) : call('look', { n: 1 });
      });
      const world = await open({ models: { default: model }, definitions });
      const chat = await chatWith(world, { definition: 'crew' });
      const { runId } = await chat.say('Go.');
      expect(await stopOf(world, runId)).toMatchObject({ status: 'waiting', reason: 'suspended' });
      const [original] = await waitingIn(world, chat.contextId);
      const before = await storedOf(world, chat.contextId);
      // The last step of the second worker: the first one waits.
      const steps = await entriesOf(world.store.db, runId, ['reply']);
      const forked = await fork(world, runId, { atStep: steps.length });
      expect(await stopOf(world, forked.runId)).toMatchObject({ status: 'waiting', reason: 'suspended' });
      const [waiting, ...others] = await waitingIn(world, forked.contextId);
      expect(others).toEqual([]);
      expect(waiting).toMatchObject({ tool_name: 'ask_first', input: original?.input, node: 'asker', space_id: null });
      expect(waiting?.id).not.toBe(original?.id);
      const sign = { approve: true, runForReal: 'ask_first' } as never;
      await answer(world.services, { runId: forked.runId, callId: waiting?.id ?? '', answer: sign, by });
      await world.idle();
      expect(await stopOf(world, await lastRun(world, forked.contextId))).toMatchObject({ response: 'All done.' });
      expect(ran.audit).toBe(1);
      // Another outcome of the waiting call is its answer: nothing runs.
      const outcomes = { [original?.id ?? '']: { result: 'Signed.' } };
      const changed = await fork(world, runId, { atStep: steps.length, outcomes });
      expect(await stopOf(world, changed.runId)).toMatchObject({ status: 'completed', response: 'All done.' });
      expect(await waitingIn(world, changed.contextId)).toEqual([]);
      expect(ran.audit).toBe(1);
      expect(await storedOf(world, chat.contextId)).toEqual(before);
    });

    test('[E2] a call that was answered in a later run has that answer in a fork, with its changes of the machine', async () => {
      const { ran, definitions } = countingDesk();
      const model = deskModel(({ who, said }: Asked) => {
        if (who === 'closer') return 'Closed.';
        return said.includes('Tuesday') ? call('transition_sign') : call('transition_ask', { question: 'When?' });
      });
      const world = await open({ models: { default: model }, definitions });
      const chat = await chatWith(world, { definition: 'desk' });
      const { runId } = await chat.say('Close.');
      for (const given of [{ result: 'Tuesday.' }, { approve: true }] as const) {
        const [waiting] = await waitingIn(world, chat.contextId);
        await answer(world.services, { runId, callId: waiting?.id ?? '', answer: given, by });
        await world.idle();
      }
      const signed = await lastRun(world, chat.contextId);
      expect(await stopOf(world, signed)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect(ran.close).toBe(1);
      const runs = await world.store.db
        .selectFrom('runs')
        .select('id')
        .where('thread_id', '=', chat.contextId)
        .orderBy('number')
        .execute();
      // The first run asked, and the second one took the transition that a person signed in the third.
      const asked = await fork(world, runId);
      expect(await endsOfMachine(world, asked.runId)).toEqual([
        expect.stringContaining('transition_sign'),
        expect.stringContaining('Tuesday.'),
      ]);
      const signs = await fork(world, runs[1]?.id ?? '');
      expect(await stopOf(world, signs.runId)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect((await requestsOfMachine(world, signs.runId)).at(-1)).toContain('{\\"sum\\":99}');
      expect(ran.close).toBe(1);
    });

    test('[E1] [E3] a message, instructions, models, nodes and outcomes can be changed, and the run states them', async () => {
      const { ran, definitions } = countingDesk();
      const other = deskModel(({ said }) => (said.includes('Closed by another') ? '' : 'Closed by another.'));
      const world = await open({ models: { default: deskModel(usualDay), other }, definitions });
      const chat = await chatWith(world, { definition: 'desk', instructions: 'Be brief.' });
      const { runId } = await chat.say('Pay 1, order 5 twice, and close.');
      const counted = { ...ran };
      const calls = await entriesOf(world.store.db, runId, ['settled']);
      const idOf = (toolName: string): string =>
        calls.find(({ entry }) => entry.settlement.toolName === toolName)?.entry.settlement.callId;
      const changes = {
        message: 'Hurry.',
        instructions: 'Be kind.',
        settings: { temperature: 0.5 },
        nodes: { closer: { instructions: 'You are the closer. Close well.', model: 'other' } },
        outcomes: { [idOf('pay')]: { result: 'Paid 1 in coins.' } },
      };
      const forked = await fork(world, runId, { atStep: 2, ...changes });
      expect(await stopOf(world, forked.runId)).toMatchObject({ response: 'Closed by another.' });
      expect(ran).toEqual(counted);
      const asked = await requestsOfMachine(world, forked.runId);
      const [request] = other.requests;
      const system = String(request?.prompt[0]?.content);
      expect(system).toContain('Close well.');
      expect(system).toContain('{"sum":1}');
      expect(system).toContain('Be kind.');
      expect(request?.temperature).toBe(0.5);
      const said = JSON.stringify(request?.prompt);
      for (const text of ['Hurry.', 'Paid 1 in coins.']) expect(said).toContain(text);
      // The first step is copied.
      expect(asked.filter((one) => one.includes('Be brief.'))).toHaveLength(1);
      const run = await getRunDetails(world.store.db, forked.runId);
      expect(run.fork).toEqual({ runId, atStep: 2, changes });
      expect((await listForks(world.store.db, runId)).items).toMatchObject([{ ...forked, atStep: 2, changes }]);
      const usage = world.store.db.selectFrom('usage_requests').select('kind').where('run_id', '=', forked.runId);
      expect(new Set((await usage.execute()).map(({ kind }) => kind))).toEqual(new Set(['fork']));
      // A transition that is denied is not taken, and the clerk is asked again.
      const denied = await fork(world, runId, {
        atStep: 1,
        outcomes: { [idOf('transition_hire')]: { deny: 'No one.' } },
      });
      const told = (await endsOfMachine(world, denied.runId)).filter((end) => end.includes('transition_hire'));
      expect(told[0]).toContain('No one.');
      expect(await stepOf(world, denied.runId, 'worker')).toBeGreaterThan(
        await stepOf(world, denied.runId, 'clerk', 3),
      );
    });

    test('[E1] the fork of a machine in a space posts nothing, shows nothing, and changes no memory of the agent', async () => {
      const { ran, definitions } = countingDesk();
      const model = deskModel(({ who, said }: Asked) => {
        if (who === 'closer') return 'Closed.';
        const isFork = said.includes('And 9.');
        const [value, text] = isFork ? ['blue', 'On 9.'] : ['red', 'On it.'];
        if (!said.includes('colour')) return call('set_memories', { memories: [{ key: 'colour', value }] });
        if (!said.includes(text)) return call('send_message', { text });
        if (!said.includes('Paid 1')) return call('pay', { n: 1 });
        return isFork && !said.includes('Paid 9') ? call('pay', { n: 9 }) : call('transition_close');
      });
      const world = await open({ models: { default: model }, definitions });
      const { ada, bot, space } = await lobby(world, { replies: 'text', definition: 'desk' }, { isIn: true });
      await world.say(space, ada, 'Go.');
      await world.idle();
      const runId = await lastRun(world, bot);
      expect(await stopOf(world, runId)).toMatchObject({ status: 'completed' });
      const { db } = world.store;
      const stored = async () => ({
        messages: await db.selectFrom('messages').selectAll().where('space_id', '=', space).orderBy('seq').execute(),
        memories: await db.selectFrom('memories').selectAll().execute(),
        agent: await db.selectFrom('agents').selectAll().where('id', '=', bot).execute(),
        thread: await storedOf(world, bot),
      });
      const before = await stored();
      expect(before.messages.map(({ content }) => content)).toEqual(expect.arrayContaining(['"Go."', '"On it."']));
      const heard = world.heard(space).length;
      const same = await fork(world, runId, { atStep: 1 });
      expect(await stopOf(world, same.runId)).toMatchObject({ status: 'completed', response: 'Closed.' });
      expect(await requestsOfMachine(world, same.runId)).toEqual(await requestsOfMachine(world, runId));
      const changed = await fork(world, runId, { atStep: 1, message: 'And 9.' });
      expect(await stopOf(world, changed.runId)).toMatchObject({ reason: 'suspended' });
      expect((await waitingIn(world, changed.contextId)).map(({ tool_name }) => tool_name)).toEqual(['pay']);
      expect(await stored()).toEqual(before);
      expect(world.heard(space)).toHaveLength(heard);
      expect(ran.pay).toBe(1);
      // The model of the fork reads what the fork has changed.
      expect((await requestsOfMachine(world, changed.runId)).at(-1)).toContain('colour: blue');
    });

    test('[E1] a fork of a machine that cannot be made says why, and stores nothing', async () => {
      const { definitions } = countingDesk();
      const world = await open({ models: { default: deskModel(usualDay) }, definitions });
      const chat = await chatWith(world, { definition: 'desk' });
      const { runId } = await chat.say('Pay 1, order 5 twice, and close.');
      const calls = await entriesOf(world.store.db, runId, ['settled']);
      const hire = calls.find(({ entry }) => entry.settlement.toolName === 'transition_hire')?.entry.settlement.callId;
      const refused = async (changes: Parameters<typeof fork>[2], why: string): Promise<void> => {
        await expect(fork(world, runId, changes)).rejects.toMatchObject({ message: expect.stringContaining(why) });
      };
      await refused({ atStep: 9 }, 'must be a step of the run');
      await refused({ atStep: 3, outcomes: { [hire]: { deny: 'No.' } } }, 'Fork at the step that took it.');
      await refused({ atStep: 1, outcomes: { [hire]: { result: 'Yes.' } } }, 'has no result');
      await refused({ nodes: { boss: {} } }, 'Its nodes are: clerk, worker, closer.');
      await refused({ nodes: { closer: { model: 'a b' } } }, 'model');
      expect((await listForks(world.store.db, runId)).items).toEqual([]);
    });

    test('[E1] a run of a machine can be forked after its transcript was compacted, as long as the machine of that time is stored', async () => {
      const { definitions } = countingDesk();
      const script = deskModel(({ said }) =>
        said.includes('Look.') && !said.includes('Saw 1') ? call('look', { n: 1 }) : 'word '.repeat(2_000),
      );
      const summary = scriptedModel(() => 'They talked.');
      const world = await open({ models: { default: { ...script, doGenerate: summary.doGenerate } }, definitions });
      const chat = await chatWith(world, { definition: 'desk', limits: { consciousnessTokens: 1_000 } });
      const first = await chat.say('Hello.');
      const { runId: second } = await chat.say('Hello again.');
      const last = await chat.say('Look.');
      await world.idle();
      const compactions = world.store.db
        .selectFrom('transcript_entries')
        .select('seq')
        .where('kind', '=', 'compaction');
      expect(await compactions.where('thread_id', '=', chat.contextId).execute()).toHaveLength(3);
      for (const runId of [first.runId, last.runId]) {
        const forked = await fork(world, runId);
        expect(await stopOf(world, forked.runId)).toMatchObject({ status: 'completed' });
        expect(await requestsOfMachine(world, forked.runId)).toEqual(await requestsOfMachine(world, runId));
      }
      await expect(fork(world, second)).rejects.toMatchObject({
        code: 'not_forkable',
        message: expect.stringContaining('the transcript has been compacted twice since'),
      });
      expect((await listForks(world.store.db, second)).items).toEqual([]);
    });
  },
  databases,
);
