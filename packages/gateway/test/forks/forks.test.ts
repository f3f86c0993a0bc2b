import { requires, slice, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pauseAgent } from '../../src/domain/agents/pause-agent.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { deletePerson } from '../../src/domain/erasure/delete-person.ts';
import { performErasures } from '../../src/domain/erasure/perform-erasures.ts';
import { listForks } from '../../src/domain/forks/fork.ts';
import { listRuns } from '../../src/domain/runs/run.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { addMember, removeMember } from '../../src/domain/spaces/membership.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { startFork } from '../../src/runtime/forks/start-fork.ts';
import { chatWith } from '../support/conversations.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { textsOf } from '../support/requests.ts';
import { databases } from '../support/stores.ts';
import { countingTools, endsOf, fork, lastRun, requestsOf, stopOf, waitingIn } from './forking.ts';

const calls = (...inputs: [toolName: string, input: object][]) => ({
  calls: inputs.map(([toolName, input], index) => ({ toolName, input, toolCallId: `${toolName}-${index}` })),
});

describeWorlds(
  'forks',
  (open) => {
    test('[E1] [E2] a fork without changes has the requests and outcomes of the original, and runs no tool', async () => {
      const { ran, tools } = countingTools();
      const script = [
        calls(['pay', { n: 1 }], ['look', { n: 1 }]),
        calls(['pay', { n: 1 }], ['pay', { n: 2 }]),
        { text: 'Done.' },
      ];
      const model = scriptedModel([...script, ...script, ...script.slice(1)]);
      const world = await open({ models: { default: model }, tools });
      const chat = await chatWith(world, { instructions: 'Pay.', tools: ['pay', 'look'] });
      const { runId } = await chat.say('Pay them.');
      const rows = () =>
        world.store.db
          .selectFrom('transcript_entries')
          .selectAll()
          .where('thread_id', '=', chat.contextId)
          .orderBy('seq')
          .execute();
      const before = await rows();
      const counted = { ...ran };
      for (const atStep of [1, 2]) {
        const forked = await fork(world, runId, { atStep });
        expect(await stopOf(world, forked.runId)).toMatchObject({ status: 'completed', response: 'Done.' });
        expect(await requestsOf(world, forked.runId)).toEqual(await requestsOf(world, runId));
        expect(await endsOf(world, forked.runId)).toEqual(await endsOf(world, runId));
        // Its usage is that of its own requests: three, or two.
        const tokens = async (id: string) => (await getRunDetails(world.store.db, id)).usage?.totalTokens ?? 0;
        expect((await tokens(forked.runId)) / (await tokens(runId))).toBeCloseTo((4 - atStep) / 3);
      }
      expect(ran).toEqual(counted);
      expect(model.requests).toHaveLength(3 + 3 + 2);
      expect(await rows()).toEqual(before);
    });

    test('[E2] equal calls that ran at the same time get their ends in the order in which they were made', async () => {
      const gate = Promise.withResolvers<void>();
      let made = 0;
      const look = tool({
        description: 'Looks.',
        inputSchema: z.object({}),
        effects: 'none',
        async execute() {
          const number = ++made;
          // The first call ends last.
          if (number === 1) await gate.promise;
          else gate.resolve();
          return `number ${number}`;
        },
      });
      const script = [calls(['look', {}], ['look', {}]), { text: 'Done.' }];
      const world = await open({ models: { default: scriptedModel([...script, ...script]) }, tools: { look } });
      const chat = await chatWith(world, { tools: ['look'] });
      const { runId } = await chat.say('Look twice.');
      const forked = await fork(world, runId);
      const ends = async (id: string) => (await endsOf(world, id)).toSorted();
      expect(await ends(forked.runId)).toEqual(await ends(runId));
      expect(made).toBe(2);
      expect(await requestsOf(world, forked.runId)).toEqual(await requestsOf(world, runId));
    });

    test('[E2] a call that the original did not make waits, and runs only if its tool is named', async () => {
      const { ran, tools } = countingTools();
      const asking = calls(['pay', { n: 7 }], ['look', { n: 7 }]);
      const model = scriptedModel([
        calls(['pay', { n: 1 }]),
        { text: 'Paid.' },
        ...[asking, { text: 'Approved.' }, asking, { text: 'Given.' }, asking, { text: 'Denied.' }],
      ]);
      const world = await open({ models: { default: model }, tools });
      const chat = await chatWith(world, { tools: ['pay', 'look'] });
      const { runId } = await chat.say('Pay 1.');
      expect(ran).toMatchObject({ pay: 1, look: 0 });
      const by = { key: true, keyId: 'key' } as const;
      const ask = async () => {
        const forked = await fork(world, runId, { message: 'Pay 7.' });
        expect(await stopOf(world, forked.runId)).toMatchObject({ status: 'waiting', reason: 'suspended' });
        const [call, ...others] = await waitingIn(world, forked.contextId);
        expect(others).toEqual([]);
        return { ...forked, callId: call?.id ?? '', call };
      };

      const approved = await ask();
      expect(approved.call).toMatchObject({
        tool_name: 'pay',
        wait_kind: 'approval',
        space_id: null,
        offered_at: null,
      });
      expect(ran).toMatchObject({ pay: 1, look: 1 });
      for (const wrong of [{}, { runForReal: 'look' }, { runForReal: '' }])
        await expect(
          answer(world.services, { ...approved, answer: { approve: true, ...wrong } as never, by }),
        ).rejects.toMatchObject({ code: 'not_confirmed' });
      await world.idle();
      expect(ran.pay).toBe(1);
      await answer(world.services, { ...approved, answer: { approve: true, runForReal: 'pay' } as never, by });
      await world.idle();
      expect(ran.pay).toBe(2);
      expect(await endsOf(world, await lastRun(world, approved.contextId))).toEqual([
        expect.stringContaining('Paid 7, as number 2.'),
      ]);
      const confirmed = await world.store.db
        .selectFrom('calls')
        .selectAll()
        .where('id', '=', approved.callId)
        .executeTakeFirstOrThrow();
      expect(fromJson(confirmed.answer ?? '')).toEqual({ approve: true, runForReal: 'pay' });

      const given = await ask();
      await answer(world.services, { ...given, answer: { result: 'Paid by hand.' }, by });
      await world.idle();
      expect(await stopOf(world, await lastRun(world, given.contextId))).toMatchObject({ response: 'Given.' });

      const denied = await ask();
      await answer(world.services, { ...denied, answer: { deny: 'Not now.' }, by });
      await world.idle();
      expect(await stopOf(world, await lastRun(world, denied.contextId))).toMatchObject({ response: 'Denied.' });
      expect(ran.pay).toBe(2);
      const prompts = model.requests.map(({ prompt }) => JSON.stringify(prompt));
      expect(prompts.some((prompt) => prompt.includes('Paid by hand.'))).toBe(true);
      expect(prompts.some((prompt) => prompt.includes('Not now.'))).toBe(true);
    });

    test('[E2] a waiting call of a fork does not expire, and the people whom its tool names may not answer it', async () => {
      const { tools } = countingTools();
      const pay = { tool: tools.pay, answerers: { roles: ['owner'] }, expiresInMs: 60_000 };
      const model = scriptedModel([{ text: 'Hello.' }, calls(['pay', { n: 1 }])]);
      const world = await open({ models: { default: model }, tools: { pay } });
      const chat = await chatWith(world, { tools: ['pay'] });
      const { runId } = await chat.say('Hi.');
      const forked = await fork(world, runId, { message: 'Pay 1.' });
      expect(await waitingIn(world, forked.contextId)).toMatchObject([
        { tool_name: 'pay', answerers: null, expires_at: null },
      ]);
    });

    test('[E1] the fork of a run in a space posts nothing, and changes no memory, goal or plan of the agent', async () => {
      const { tools } = countingTools();
      const script = (text: string) => [
        calls(
          ['set_memories', { memories: [{ key: 'colour', value: text }] }],
          ['set_goals', { goals: [{ description: 'Win.' }] }],
        ),
        calls(['send_message', { text: 'On it.' }], ['pay', { n: 1 }]),
        calls(['read_messages', { spaceId: '1' }], ['delete_memories', { keys: ['colour'] }]),
        { text },
      ];
      const model = scriptedModel([...script('red'), ...script('red'), ...script('blue')]);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { replies: 'text', tools: ['pay', 'look'] });
      await world.say(space, ada, 'Go.');
      await world.idle();
      const runId = await lastRun(world, bot);
      const { db } = world.store;
      const stored = async () => ({
        messages: await db.selectFrom('messages').selectAll().where('space_id', '=', space).orderBy('seq').execute(),
        goals: await db.selectFrom('goals').selectAll().execute(),
        memories: await db.selectFrom('memories').selectAll().execute(),
        plans: await db.selectFrom('plans').selectAll().execute(),
        agent: await db.selectFrom('agents').selectAll().where('id', '=', bot).execute(),
        spaces: await db.selectFrom('spaces').selectAll().where('id', '=', space).execute(),
        inbox: await db.selectFrom('inbox_events').selectAll().where('thread_id', '=', bot).execute(),
      });
      const before = await stored();
      expect(before.messages.map(({ content }) => content)).toEqual(expect.arrayContaining(['"Go."', '"On it."']));
      expect(before.goals).toHaveLength(1);
      const heard = world.heard(space).length;

      const same = await fork(world, runId);
      expect(await stopOf(world, same.runId)).toMatchObject({ status: 'completed', response: 'red' });
      expect(await requestsOf(world, same.runId)).toEqual(await requestsOf(world, runId));
      expect(await endsOf(world, same.runId)).toEqual(await endsOf(world, runId));
      expect(await stored()).toEqual(before);

      const changed = await fork(world, runId, { message: 'Take blue.' });
      expect(await stopOf(world, changed.runId)).toMatchObject({ status: 'completed', response: 'blue' });
      expect(await stored()).toEqual(before);
      expect(world.heard(space)).toHaveLength(heard);
      // The model reads what the fork has changed.
      const [, second = '', third = ''] = await requestsOf(world, changed.runId);
      expect(second).toContain('colour: blue');
      expect(third).toContain('colour: blue');
      expect((await requestsOf(world, changed.runId)).at(-1)).not.toContain('colour: blue');
    });

    test('[E1] a fork of a run in a space has the response that it would have sent', async () => {
      const model = scriptedModel(() => calls(['send_message', { text: 'It rains.', final: true }]));
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, {}, { isIn: true });
      await world.say(space, ada, 'What is the weather?');
      await world.idle();
      const runId = await lastRun(world, bot);
      const ended = { status: 'completed', tool: 'send_message', response: 'It rains.' };
      expect(await stopOf(world, runId)).toMatchObject(ended);
      expect(await stopOf(world, (await fork(world, runId)).runId)).toMatchObject(ended);
    });

    test('[E1] [O3] a fork that has not begun loses its copies of runs that are erased', async () => {
      const { tools } = countingTools();
      const model = scriptedModel([{ text: 'She means rubies.', ...calls(['look', { n: 1 }]) }, { text: 'Done.' }]);
      const world = await open({ models: { default: model }, tools });
      const { ada, bot, space } = await lobby(world, { replies: 'text', tools: ['look'] });
      await world.say(space, ada, 'I love red stones.');
      await world.idle();
      const runId = await lastRun(world, bot);
      const caller = { kind: 'key', keyId: 'key' } as const;
      const { contextId } = await world.in(async (tx) => {
        const started = await startFork(tx, world.registry, { caller, runId, atStep: 2, changes: {} });
        await pauseAgent(tx, bot);
        return started;
      });
      const copied = async (): Promise<string> => {
        const rows = world.store.db.selectFrom('transcript_entries').select('payload');
        return JSON.stringify(await rows.where('thread_id', '=', contextId).execute());
      };
      expect(await copied()).toContain('rubies');
      await world.in((tx) => deletePerson(tx, ada));
      await performErasures(world.services);
      await expect.poll(copied).not.toContain('rubies');
    });

    test('[E1] a fork reads its space as it was at the step', async () => {
      const model = scriptedModel([
        calls(['read_messages', { spaceId: '1', limit: 5 }]),
        { text: '' },
        calls(['read_messages', { spaceId: '1', limit: 6 }]),
        { text: '' },
      ]);
      const world = await open({ models: { default: model } });
      const { ada, bot, space } = await lobby(world, { replies: 'text' });
      await world.say(space, ada, 'Early.');
      await world.idle();
      const runId = await lastRun(world, bot);
      // Without the agent, the message does not wake it.
      await world.in((tx) => removeMember(tx, { spaceId: space, entityId: bot }));
      const lateId = await world.say(space, ada, 'Late.');
      await world.in((tx) => addMember(tx, { spaceId: space, entityId: bot }));
      const later = { created_at: Date.now() + 60_000 };
      await world.in(({ db }) => db.updateTable('messages').set(later).where('id', '=', lateId).execute());
      const forked = await fork(world, runId);
      const [end = ''] = await endsOf(world, forked.runId);
      expect(end).toContain('Early.');
      expect(end).not.toContain('Late.');
    });

    test('[E1] [E3] instructions, model, settings, outcomes and a message can be changed, and the run states them', async () => {
      const { ran, tools } = countingTools();
      const model = scriptedModel([calls(['look', { n: 1 }]), calls(['look', { n: 2 }]), { text: 'One.' }]);
      const other = scriptedModel([calls(['look', { n: 2 }]), { text: 'Two.' }]);
      const world = await open({ models: { default: model, other }, tools });
      const chat = await chatWith(world, { instructions: 'Look.', tools: ['look'] });
      const { runId } = await chat.say('Look twice.');
      const rows = await world.store.db
        .selectFrom('calls')
        .select('id')
        .where('run_id', '=', runId)
        .orderBy('step')
        .execute();
      const [first = '', second = ''] = rows.map(({ id }) => id);
      const changes = {
        instructions: 'Look well.',
        model: 'other',
        settings: { temperature: 0.5 },
        message: 'Again.',
        outcomes: { [first]: { result: 'Saw a cat.' }, [second]: { error: 'Too dark.' } },
      };
      const forked = await fork(world, runId, { atStep: 2, ...changes });
      expect(ran.look).toBe(2);
      const [request] = other.requests;
      expect(request?.temperature).toBe(0.5);
      const prompt = JSON.stringify(request?.prompt);
      for (const text of ['Look well.', 'Saw a cat.', 'Again.']) expect(prompt).toContain(text);
      expect(prompt).not.toContain('Saw 1');
      expect(JSON.stringify(other.requests[1]?.prompt)).toContain('Too dark.');
      const run = await getRunDetails(world.store.db, forked.runId);
      expect(run).toMatchObject({ response: 'Two.', fork: { runId, atStep: 2, changes } });
      expect((await getRunDetails(world.store.db, runId)).fork).toBeUndefined();
      const { items } = await listForks(world.store.db, runId);
      expect(items).toMatchObject([{ ...forked, atStep: 2, changes }]);
      // A list of runs marks the fork, but not its original.
      const listed = new Map((await listRuns(world.store.db)).items.map(({ id, trial }) => [id, trial]));
      expect([listed.get(forked.runId), listed.get(runId)]).toEqual([{ kind: 'fork', runId }, undefined]);
      const usage = await world.store.db
        .selectFrom('usage_requests')
        .select('kind')
        .where('run_id', '=', forked.runId)
        .execute();
      expect(new Set(usage.map(({ kind }) => kind))).toEqual(new Set(['fork']));
    });

    test('[E2] no kind of tool acts by itself in a fork: jobs, HTTP tools, sub-agents with tools, and tools of people wait', async () => {
      const { ran, tools: own } = countingTools();
      const inputSchema = { type: 'object', properties: {} } as const;
      const kinds = {
        haul: { executionType: 'external', inputSchema },
        order: {
          executionType: 'gateway',
          inputSchema,
          execution: { url: 'https://shop.example/order', method: 'POST' },
        },
        ask: { executionType: 'space', inputSchema },
        helper: {
          executionType: 'gateway',
          inputSchema,
          effects: 'none',
          execution: { agentConfig: { instructions: 'Help.', tools: ['pay'] } },
        },
      };
      const names = Object.keys(kinds);
      const model = scriptedModel([
        { text: 'Nothing.' },
        calls(...names.map((name) => [name, {}] as [string, object])),
      ]);
      const world = await open({
        models: { default: model },
        tools: { ...own, ...kinds } as never,
        limits: { pendingNotifications: 10 },
      });
      const { ada, bot, space } = await lobby(world, { replies: 'text', tools: [...names, 'pay'] });
      await world.say(space, ada, 'Hello.');
      await world.idle();
      const forked = await fork(world, await lastRun(world, bot), { message: 'Do it all.' });
      expect(await stopOf(world, forked.runId)).toMatchObject({ reason: 'suspended' });
      const waiting = await waitingIn(world, forked.contextId);
      expect(waiting.map(({ tool_name, wait_kind }) => `${tool_name} ${wait_kind}`).sort()).toEqual([
        'ask result',
        'haul result',
        'helper approval',
        'order approval',
      ]);
      // No worker is offered one, no space shows one, and only operators may answer.
      for (const call of waiting)
        expect(call).toMatchObject({ offered_at: null, announce_at: null, space_id: null, answerers: null });
      const { db } = world.store;
      expect(await db.selectFrom('notify_events').selectAll().where('run_id', '=', forked.runId).execute()).toEqual([]);
      expect(ran.pay).toBe(0);
      expect(model.requests).toHaveLength(2);
    });

    test('[E2] a grant, or a policy that approves calls, lets no call of a fork run', async () => {
      let ran = 0;
      const inputSchema = z.object({ n: z.number() });
      const pay = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => `Paid ${++ran}.` });
      const policies = [
        { name: 'easy', approveCall: ({ input }: { input: unknown }) => (input as { n: number }).n > 5 },
      ];
      const model = scriptedModel([
        calls(['pay', { n: 1 }]),
        { text: 'Paid.' },
        calls(['pay', { n: 2 }]),
        calls(['pay', { n: 7 }]),
      ]);
      const world = await open({
        models: { default: model },
        definitions: { payer: { tools: { pay }, policies } as never },
      });
      const chat = await chatWith(world, { definition: 'payer' });
      const { runId } = await chat.say('Pay 1.');
      const [asked] = await waitingIn(world, chat.contextId);
      const by = { key: true, keyId: 'key' } as const;
      const given = {
        runId,
        callId: asked?.id ?? '',
        answer: { approve: true } as const,
        by,
        grant: { for: 'always' } as const,
      };
      await answer(world.services, given);
      await world.idle();
      expect(ran).toBe(1);
      for (const n of [2, 7]) {
        const forked = await fork(world, runId, { message: `Pay ${n}.` });
        const waiting = await waitingIn(world, forked.contextId);
        expect(waiting.map(({ tool_name, input }) => `${tool_name} ${input}`)).toEqual([`pay {"n":${n}}`]);
        const grant = { ...forked, callId: waiting[0]?.id ?? '', grant: { for: 'always' } as const, by };
        const confirmed = { approve: true, runForReal: 'pay' } as never;
        await expect(answer(world.services, { ...grant, answer: confirmed })).rejects.toMatchObject({
          code: 'wrong_answer',
        });
      }
      expect(ran).toBe(1);
    });

    test('[E2] a recorded outcome includes its changes of the session', async () => {
      const count = slice<number>('count', { initial: 0, on: { counted: (sum) => sum + 1 } });
      let ran = 0;
      const tools = {
        tick: tool({
          description: 'Ticks.',
          inputSchema: z.object({}),
          slices: [count],
          execute: (_input, { session }) => {
            session.dispatch({ type: 'counted' });
            return `Ticked ${++ran}.`;
          },
        }),
      };
      const ticker = {
        tools,
        slices: [count],
        observe: ({ read }: { read: (of: typeof count) => number }) => `Count: ${read(count)}.`,
      };
      const script = [calls(['tick', {}]), calls(['tick', {}]), { text: 'Done.' }];
      const world = await open({
        models: { default: scriptedModel([...script, ...script.slice(1)]) },
        definitions: { ticker: ticker as never },
      });
      const chat = await chatWith(world, { definition: 'ticker' });
      const { runId } = await chat.say('Tick.');
      const forked = await fork(world, runId, { atStep: 2 });
      expect(ran).toBe(2);
      const requests = await requestsOf(world, forked.runId);
      expect(requests).toEqual(await requestsOf(world, runId));
      expect(requests.at(-1)).toContain('Count: 2.');
    });

    test('[E2] a recorded outcome of a tool without effects counts for rules that require it', async () => {
      const { ran, tools } = countingTools();
      const script = [calls(['look', { n: 1 }]), calls(['pay', { n: 1 }]), { text: 'Done.' }];
      const payer = { tools, policies: [requires({ pay: ['look'] })] };
      const world = await open({
        models: { default: scriptedModel([...script, ...script]) },
        definitions: { payer: payer as never },
      });
      const chat = await chatWith(world, { definition: 'payer' });
      const { runId } = await chat.say('Pay.');
      const forked = await fork(world, runId);
      expect(await endsOf(world, forked.runId)).toEqual(await endsOf(world, runId));
      expect((await endsOf(world, runId)).join()).toContain('Paid 1, as number 1.');
      expect(ran).toEqual({ pay: 1, look: 1 });
    });

    test('[E2] a rewind in a fork does not undo what the original did outside', async () => {
      const { tools } = countingTools();
      let undone = 0;
      const pay = { ...tools.pay, compensate: () => void undone++ };
      const rewinding = calls(['rewind', { reason: 'Wrong.', guidance: 'Stop.' }]);
      const model = scriptedModel([
        ...[calls(['pay', { n: 1 }]), { text: 'Paid.' }],
        ...[calls(['pay', { n: 1 }]), rewinding, { text: 'Stopped.' }],
      ]);
      const definitions = { payer: { tools: { pay }, rewind: true } as never };
      const world = await open({ models: { default: model }, definitions });
      const chat = await chatWith(world, { definition: 'payer' });
      const { runId } = await chat.say('Pay.');
      const forked = await fork(world, runId);
      expect(await stopOf(world, forked.runId)).toMatchObject({ status: 'completed', response: 'Stopped.' });
      expect(textsOf(model.requests.at(-1)?.prompt ?? []).join()).toContain('You went back to this point.');
      expect(undone).toBe(0);
    });

    test('[E2] a call that the original skipped is decided anew if another call ends differently in the fork', async () => {
      const { ran, tools } = countingTools();
      const report = tool({
        description: 'Reports.',
        inputSchema: z.object({}),
        effects: 'none',
        terminal: true,
        execute: () => 'Reported.',
      });
      const batch = calls(['report', {}], ['look', { n: 1 }]);
      const definitions = { clerk: { tools: { ...tools, report } } as never };
      const model = scriptedModel([batch, batch, { text: 'Done.' }]);
      const world = await open({ models: { default: model }, definitions });
      const chat = await chatWith(world, { definition: 'clerk' });
      const { runId } = await chat.say('Report.');
      expect((await endsOf(world, runId)).join()).toContain('"status":"skipped"');
      const first = await world.store.db
        .selectFrom('calls')
        .select('id')
        .where('run_id', '=', runId)
        .where('tool_name', '=', 'report')
        .executeTakeFirstOrThrow();
      const forked = await fork(world, runId, { outcomes: { [first.id]: { error: 'No paper.' } } });
      expect((await endsOf(world, forked.runId)).join()).toContain('Saw 1, as number 1.');
      expect(ran.look).toBe(1);
    });

    test('[E1] a fork that cannot be made says why, and stores nothing', async () => {
      const { tools } = countingTools();
      const world = await open({ models: { default: scriptedModel([{ text: 'Hi.' }]) }, tools });
      const chat = await chatWith(world, { tools: ['look'] });
      const { runId } = await chat.say('Hi.');
      await expect(fork(world, runId, { atStep: 2 })).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(fork(world, 'none')).rejects.toMatchObject({ code: 'not_found' });
      await expect(fork(world, runId, { outcomes: { none: { result: 1 } } })).rejects.toMatchObject({
        message: expect.stringContaining('names no call of this run'),
      });
      await expect(fork(world, runId, { model: 'a b' })).rejects.toMatchObject({ code: 'invalid_config' });
      const { db } = world.store;
      expect(await db.selectFrom('forks').selectAll().where('origin_run_id', '=', runId).execute()).toEqual([]);
      const contexts = db.selectFrom('contexts').select('id').where('agent_id', '=', chat.agentId);
      expect(await contexts.execute()).toEqual([{ id: chat.contextId }]);
    });
  },
  databases,
);
