import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ScriptedReply } from '@lastcall/core/testing';
import { type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { fixedTool } from '../chat/chat-api.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { erasureGateways } from './erasure-gateways.ts';
import { filesWithEach, tablesWithEach } from './planted.ts';

const PLANTED = 'zebra-7731-lantern';
const SENTENCE = 'my grandmother kept eleven blue parrots behind the harbour wall';
const NAME = 'Petronella Quackenbush';
const SEEN = 'I have had a look.';

describe.each(databases)('an erasure on $kind', ({ kind, create }) => {
  const database = forEachTest(create);
  const { home, open, stop } = erasureGateways(database);
  const id = async (gateway: TestGateway, path: string, body: object): Promise<string> =>
    (await gateway.api(path, body)).id;
  const person = (gateway: TestGateway, displayName: string) =>
    id(gateway, '/api/entities', { kind: 'human', displayName, externalId: `${displayName} at work` });
  const doneErasure = async (gateway: TestGateway, erasureId: string) =>
    await waitFor(
      async () => {
        const erasure = await gateway.api(`/api/erasures/${erasureId}`);
        return erasure.status === 'done' ? erasure : undefined;
      },
      { timeoutMs: 90_000 },
    );
  const quiet = async (gateway: TestGateway, runs: number): Promise<void> => {
    await waitFor(async () => (await gateway.api('/api/runs?status=completed&limit=100')).items.length >= runs, {
      timeoutMs: 60_000,
    });
  };
  /** Where each text still is, once the gateways have stopped. */
  const where = async (...texts: readonly string[]) => {
    await stop();
    const store = await database.open();
    try {
      return { tables: await tablesWithEach(store, texts), files: await filesWithEach(database, home.path, texts) };
    } finally {
      await store.close();
    }
  };
  const nowhere = (...texts: readonly string[]) => {
    const nothing = Object.fromEntries(texts.map((text) => [text, []]));
    return { tables: nothing, files: nothing };
  };
  const say = (gateway: TestGateway, space: string, entityId: string, text: string) =>
    gateway.api(`/api/spaces/${space}/messages`, { entityId, text });

  /** Calls a tool once, stores a memory and a goal with the person's text, and repeats the text, also in later runs. */
  const parrot = ({ prompt }: LanguageModelV4CallOptions): ScriptedReply => {
    const said = JSON.stringify(prompt);
    const about = `You said ${PLANTED}: ${SENTENCE}.`;
    if (!said.includes(PLANTED)) return 'I know nothing.';
    // The last message of a prompt has the agent's current goals and memories: it is not the result of the tool.
    if (said.includes(SEEN)) return about;
    return [
      { toolName: 'set_memories', input: { memories: [{ key: 'parrots', value: about }] } },
      { toolName: 'look', input: { question: about } },
      { toolName: 'set_goals', input: { goals: [{ description: about }] } },
    ];
  };

  const settle = async (gateway: TestGateway) => {
    await gateway.api('/api/tools', fixedTool('look', SEEN));
    const agent = await id(gateway, '/api/agents', { name: 'Polly', instructions: 'Help.', tools: ['look'] });
    const [ada, ben] = [await person(gateway, NAME), await person(gateway, 'Ben')];
    const space = await id(gateway, '/api/spaces', {
      name: 'Harbour',
      members: [agent, ada, ben].map((entityId) => ({ entityId })),
    });
    return { agent, ada, ben, space };
  };

  test('[O3] a planted text of a deleted person is found in no table, file or index, and receipts and counts stay', async () => {
    const gateway = await open(parrot);
    const { agent, ada, ben, space } = await settle(gateway);
    await say(gateway, space, ada, `I live at ${PLANTED}. ${SENTENCE}`);
    await quiet(gateway, 1);
    await say(gateway, space, ada, 'ok');
    await quiet(gateway, 2);
    // A run without the person repeats the text of the transcript.
    await say(gateway, space, ben, 'What did she say?');
    await quiet(gateway, 3);
    const { token } = await gateway.api(`/api/entities/${ada}/token`, {});
    const chat = await gateway.api('/chat', { agent, message: `Again: ${PLANTED}` }, { key: token });
    expect(JSON.stringify(chat)).toContain(PLANTED);
    // A fork has copies of the rows, and repeats the text. So does a fork of the fork.
    const { items: all } = await gateway.api(`/api/runs?agentId=${agent}&limit=100`);
    const fork = await gateway.api(`/api/runs/${all.at(-1).id}/forks`, { atStep: 1, changes: { message: PLANTED } });
    await quiet(gateway, 5);
    await gateway.api(`/api/runs/${fork.runId}/forks`, { atStep: 2 });
    await quiet(gateway, 6);
    // The cases of evaluations and their results have copies too.
    const evaluation = `/api/evaluations/${(await gateway.api('/api/evaluations', { name: 'parrots' })).id}`;
    const stored = await gateway.api(`${evaluation}/cases`, { runId: chat.run_id });
    expect(stored).toMatchObject({ input: `Again: ${PLANTED}`, expected: expect.stringContaining(SENTENCE) });
    const scores = { answer: { value: 1, reason: `It has "${SENTENCE}".` } };
    const told = { case: stored.name, sample: 1, scores, response: `You said ${SENTENCE}.`, ms: 5 };
    const samples = [{ ...told, runId: fork.runId }, told];
    await gateway.api(`${evaluation}/reports`, { version: 'v1', samples });
    const before = await gateway.api(`/api/spaces/${space}/messages?limit=100`);
    const runs = (await gateway.api('/api/runs?limit=100')).items.length;
    expect(JSON.stringify(before)).toContain(SENTENCE);
    const ordered = await gateway.request(`/api/entities/${ada}`, undefined, { method: 'DELETE' });
    expect(ordered.status).toBe(202);
    const erasure = await doneErasure(gateway, ((await ordered.json()) as { id: string }).id);
    expect(erasure).toMatchObject({ kind: 'person', subjectId: ada, status: 'done', phase: 'done' });
    expect(erasure.replaced).toBeGreaterThan(5);
    // Receipts and counts.
    const after = await gateway.api(`/api/spaces/${space}/messages?limit=100`);
    const receipt = ({ id, seq, entityId, createdAt, status }: Record<string, unknown>) => ({
      id,
      seq,
      entityId,
      createdAt,
      status,
    });
    expect(after.items.map(receipt)).toEqual(before.items.map(receipt));
    expect(after.items.filter(({ entityId }: { entityId: string }) => entityId === ada)).toMatchObject([
      { text: '[erased]' },
      { text: '[erased]' },
    ]);
    expect(after.items.find(({ entityId }: { entityId: string }) => entityId === ben).text).toBe('What did she say?');
    expect((await gateway.api('/api/runs?limit=100')).items).toHaveLength(runs);
    expect(await gateway.api(`/api/entities/${ada}`)).toMatchObject({ displayName: '[erased]', metadata: {} });
    // The replies of the fork's model to the text are erased completely.
    const repeated = await gateway.api(`/api/runs/${fork.runId}/transcript`);
    expect(repeated.items.length).toBeGreaterThan(2);
    expect(JSON.stringify(repeated)).not.toContain('You said');
    // Numbers stay, and a case without its outcomes is gone.
    expect(await gateway.api(evaluation)).toMatchObject({
      cases: 0,
      newest: { samples: 2, scores: { answer: { mean: 1 } } },
    });
    // A report from before the erasure that is sent now does not restore any text.
    await gateway.api(`${evaluation}/reports`, { version: 'v2', samples: [{ ...told, runId: fork.runId }] });
    expect((await gateway.api(`${evaluation}/results`)).items[0].cells[0].samples).toEqual([
      { sample: 1, scores: { answer: { value: 1 } }, ms: 5, runId: fork.runId },
    ]);
    expect(await where(PLANTED, SENTENCE, NAME)).toEqual(nowhere(PLANTED, SENTENCE, NAME));
  }, 150_000);

  test('[O1] [O3] an erasure in one project changes no text of another project, whatever the person there was called and wrote', async () => {
    const gateway = await open(parrot);
    const { agent, ben, space } = await settle(gateway);
    const about = `Ask ${NAME} about ${PLANTED}: ${SENTENCE}.`;
    await say(gateway, space, ben, about);
    await quiet(gateway, 1);
    await gateway.api(`/api/agents/${agent}/plans`, { name: NAME, instruction: about, after: 'P1D' });
    const [run] = (await gateway.api(`/api/runs?agentId=${agent}`)).items;
    const texts = () =>
      Promise.all(
        [
          `/api/spaces/${space}/messages`,
          ...['memories', 'goals', 'plans', 'inbox'].map((part) => `/api/agents/${agent}/${part}`),
          `/api/runs/${run.id}`,
          `/api/runs/${run.id}/transcript`,
        ].map((path) => gateway.api(path)),
      );
    const before = await texts();
    for (const one of before.slice(0, 5)) expect(JSON.stringify(one)).toContain(SENTENCE);

    await gateway.api('/api/projects', { id: 'acme' });
    const { key } = await gateway.api('/api/keys', { name: 'Acme', scopes: ['admin'], project: 'acme' });
    const inAcme = async (path: string, body?: object, method?: string) =>
      await gateway.api(path, body, { key, ...(method === undefined ? {} : { method }) });
    const theirs = await inAcme('/api/agents', { name: 'Polly', instructions: 'Help.', tools: [] });
    const twin = await inAcme('/api/entities', { kind: 'human', displayName: NAME });
    const members = [theirs, twin].map(({ id }) => ({ entityId: id }));
    const hall = await inAcme('/api/spaces', { name: 'Hall', members });
    await inAcme(`/api/spaces/${hall.id}/messages`, { entityId: twin.id, text: about });
    await quiet(gateway, 2);
    const { id } = await inAcme(`/api/entities/${twin.id}`, undefined, 'DELETE');
    await doneErasure(gateway, id);
    expect(JSON.stringify(await inAcme(`/api/agents/${theirs.id}/memories`))).not.toContain(SENTENCE);
    expect(JSON.stringify(await inAcme(`/api/spaces/${hall.id}/messages`))).not.toContain(SENTENCE);
    expect(await texts()).toEqual(before);
  }, 150_000);

  test('[O3] a run that has the text in memory cannot write it again, on this gateway or on another', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let isLater = false;
    // Neither the cancel nor the lost lease stops this model: it repeats the text when everything is erased.
    const stubborn = async (request: LanguageModelV4CallOptions): Promise<ScriptedReply> => {
      // After the takeover it is asked again, with the remaining texts.
      if (!isLater || !JSON.stringify(request.prompt).includes(PLANTED)) return parrot(request);
      asked.resolve();
      await answer.promise;
      return `You said ${PLANTED}: ${SENTENCE}.`;
    };
    const first = await open(stubborn);
    const { ada, ben, space } = await settle(first);
    await say(first, space, ada, `I live at ${PLANTED}. ${SENTENCE}`);
    await quiet(first, 1);
    isLater = true;
    await say(first, space, ben, 'What did she say?');
    await asked.promise;
    // Another gateway orders the erasure, and may perform it, while the first one has the run.
    const second = kind === 'postgres' ? await open(parrot) : first;
    const { id: erasureId } = await second.api(`/api/entities/${ada}`, undefined, { method: 'DELETE' });
    await doneErasure(second, erasureId);
    answer.resolve();
    await waitFor(async () => (await first.api('/api/runs?status=running')).items.length === 0);
    expect(await where(PLANTED, SENTENCE)).toEqual(nowhere(PLANTED, SENTENCE));
  }, 150_000);

  test('[O3] [O6] a plan that an operator sets while an agent reads a message is not erased with the message', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const gateway = await open(async ({ prompt }) => {
      if (prompt.some(({ role }) => role === 'tool')) return 'Planned.';
      asked.resolve();
      await answer.promise;
      return [
        {
          toolName: 'set_plans',
          input: { plans: [{ key: 'own', name: 'Visit', instruction: SENTENCE, after: 'P1D' }] },
        },
      ];
    });
    const { agent, ada, space } = await settle(gateway);
    await say(gateway, space, ada, SENTENCE);
    await asked.promise;
    const plan = { key: 'backup', name: 'Backup', instruction: 'Store the files.', cron: '0 3 * * *' };
    const set = await gateway.api(`/api/agents/${agent}/plans`, plan);
    answer.resolve();
    await quiet(gateway, 1);
    expect((await gateway.api(`/api/agents/${agent}/plans`)).items).toHaveLength(2);
    const { id: erasureId } = await gateway.api(`/api/entities/${ada}`, undefined, { method: 'DELETE' });
    await doneErasure(gateway, erasureId);
    const { items } = await gateway.api(`/api/agents/${agent}/plans`);
    expect(items.find(({ key }: { key: string }) => key === 'backup')).toEqual(set);
    expect(JSON.stringify(items)).not.toContain(SENTENCE);
  }, 150_000);

  test('[O3] an erased transcript is still valid: the agent continues, and every call has its result', async () => {
    const requests: LanguageModelV4CallOptions[] = [];
    const gateway = await open((request) => {
      requests.push(request);
      return parrot(request);
    });
    const { ada, ben, space } = await settle(gateway);
    await say(gateway, space, ada, `I live at ${PLANTED}.`);
    await quiet(gateway, 1);
    const { id: erasureId } = await gateway.api(`/api/entities/${ada}`, undefined, { method: 'DELETE' });
    await doneErasure(gateway, erasureId);
    requests.length = 0;
    await say(gateway, space, ben, 'Are you there?');
    await quiet(gateway, 2);
    const [{ prompt } = { prompt: [] }] = requests;
    expect(JSON.stringify(prompt)).not.toContain(PLANTED);
    const parts = prompt.flatMap(({ content }) =>
      typeof content === 'string' ? [] : (content as { type: string; toolCallId?: string }[]),
    );
    const callsOf = (type: string) => parts.filter((part) => part.type === type).map(({ toolCallId }) => toolCallId);
    expect(callsOf('tool-call').length).toBeGreaterThan(0);
    expect(callsOf('tool-result')).toEqual(callsOf('tool-call'));
    const { items } = await gateway.api(`/api/spaces/${space}/messages?limit=100`);
    expect(items.at(-1).text).toBe('I know nothing.');
  }, 150_000);

  describe('of a text that is in the input of a call', () => {
    /** A call that waits for approval, whose input has what Ada wrote. It is made in a run that Ada or Ben started. */
    const ask = async (asker: 'ada' | 'ben') => {
      const requests: string[] = [];
      const gateway = await open(({ prompt }) => {
        requests.push(JSON.stringify(prompt));
        const isAsked = JSON.stringify(prompt.slice(-2)).includes('Mail it');
        return isAsked ? { toolName: 'mail', input: { text: `They say that ${SENTENCE}.` } } : 'All right.';
      });
      const { agent, space, ...people } = await settle(gateway);
      await gateway.api('/api/tools', fixedTool('mail', 'Mailed.', { approval: true }));
      await gateway.api(`/api/agents/${agent}`, { tools: ['mail'] }, { method: 'PATCH' });
      await say(gateway, space, people.ada, SENTENCE);
      await quiet(gateway, 1);
      await say(gateway, space, people[asker], 'Mail it.');
      const { callId, runId } = await waitFor(async () => (await gateway.api('/api/pending')).items[0]);
      await waitFor(async () => (await gateway.api('/api/runs?status=running')).items.length === 0);
      const erase = async () => {
        const { id: erasureId } = await gateway.api(`/api/entities/${people.ada}`, undefined, { method: 'DELETE' });
        await doneErasure(gateway, erasureId);
      };
      const approve = () => gateway.request(`/api/runs/${runId}/tool-results`, { callId, approve: true });
      return { gateway, agent, requests, callId, erase, approve };
    };

    test.each(['ada', 'ben'] as const)(
      '[O3] a call that waits is cancelled (%s asked for it)',
      async (asker) => {
        const { gateway, callId, erase, approve } = await ask(asker);
        await erase();
        expect((await approve()).status).toBe(410);
        const input = asker === 'ada' ? { erased: true } : { text: 'They say that [erased].' };
        expect((await gateway.api('/api/pending?status=cancelled')).items).toMatchObject([{ callId, input }]);
      },
      150_000,
    );

    test.each(['ada', 'ben'] as const)(
      '[O3] a call that was approved, and has not run, is denied (%s asked for it)',
      async (asker) => {
        const { gateway, agent, requests, erase, approve } = await ask(asker);
        await gateway.api(`/api/agents/${agent}/pause`, {});
        expect((await approve()).status).toBe(200);
        await erase();
        await gateway.api(`/api/agents/${agent}/resume`, {});
        await waitFor(() => requests.at(-1)?.includes('its input was erased before it ran'));
        expect(requests.at(-1)).not.toContain('Mailed.');
      },
      150_000,
    );
  });

  test('[O3] a deleted space leaves no text of its messages in any run of its agents, and no one can post to it', async () => {
    const gateway = await open(parrot);
    const { ada, ben, space } = await settle(gateway);
    await say(gateway, space, ada, `I live at ${PLANTED}. ${SENTENCE}`);
    await quiet(gateway, 1);
    const erasure = await gateway.api(`/api/spaces/${space}`, undefined, { method: 'DELETE' });
    expect(erasure).toMatchObject({ kind: 'space', subjectId: space, status: 'running' });
    expect((await gateway.request(`/api/spaces/${space}`)).status).toBe(404);
    expect(await say(gateway, space, ben, 'Hello?')).toMatchObject({ error: { code: 'not_found' } });
    await doneErasure(gateway, erasure.id);
    // The person stays.
    expect((await gateway.api(`/api/entities/${ada}`)).displayName).toBe(NAME);
    expect(await where(PLANTED, SENTENCE)).toEqual(nowhere(PLANTED, SENTENCE));
  }, 150_000);

  test.each([
    ['confirm', { executionType: 'space', execution: undefined }, { result: true }],
    ['mail', { executionType: 'gateway', execution: { template: 'Sent.' }, approval: true }, { approve: true }],
  ])(
    '[O3] a call of %s that waits in a deleted space ends, and its agent is told',
    async (toolName, tool, answer) => {
      const requests: string[] = [];
      const asks = [
        { toolName: 'enter_space', input: { spaceId: '1' } },
        { toolName, input: { question: PLANTED } },
      ];
      const gateway = await open(({ prompt }) => {
        requests.push(JSON.stringify(prompt));
        return requests.length === 1 ? asks : 'All right.';
      });
      const { agent, space } = await settle(gateway);
      await gateway.api('/api/tools', fixedTool(toolName, 'Sent.', tool));
      await gateway.api(`/api/agents/${agent}`, { tools: [toolName] }, { method: 'PATCH' });
      // No one has written in the space, so its erasure reaches no run.
      await gateway.api(`/api/agents/${agent}/events`, { source: 'shop', name: 'order' });
      const { callId, runId } = await waitFor(async () => (await gateway.api('/api/pending')).items[0]);
      await waitFor(async () => (await gateway.api('/api/runs?status=running')).items.length === 0);
      const { id: erasureId } = await gateway.api(`/api/spaces/${space}`, undefined, { method: 'DELETE' });
      expect((await gateway.api('/api/pending')).items).toEqual([]);
      const late = await gateway.request(`/api/runs/${runId}/tool-results`, { callId, ...answer });
      expect(late.status).toBe(410);
      await waitFor(() => requests.at(-1)?.includes('was deleted before anyone answered'), { timeoutMs: 30_000 });
      await doneErasure(gateway, erasureId);
    },
    150_000,
  );

  test('[O3] an erased conversation is gone with its copies, also while its run goes on', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const gateway = await open(async (request) => {
      if (!JSON.stringify(request.prompt).includes('Hold the line')) return parrot(request);
      asked.resolve();
      await answer.promise;
      return SENTENCE;
    });
    const { agent, ada } = await settle(gateway);
    const { token } = await gateway.api(`/api/entities/${ada}/token`, {});
    const { context_id } = await gateway.api('/chat', { agent, message: `I am ${PLANTED}` }, { key: token });
    const waiting = gateway.request('/chat', { context_id, message: `Hold the line: ${SENTENCE}` }, { key: token });
    await asked.promise;
    expect((await gateway.request(`/contexts/${context_id}`, undefined, { method: 'DELETE' })).status).toBe(409);
    const { erasure } = await gateway.api(`/contexts/${context_id}?erase=true`, undefined, { method: 'DELETE' });
    await doneErasure(gateway, erasure.id);
    answer.resolve();
    await waiting;
    expect((await gateway.request(`/contexts/${context_id}`)).status).toBe(404);
    expect(await where(PLANTED, SENTENCE)).toEqual(nowhere(PLANTED, SENTENCE));
  }, 150_000);

  test('[O3] an erased agent leaves none of its texts, and those of people stay', async () => {
    const gateway = await open(() => `Only the agent says ${PLANTED}.`);
    const { agent, ada, space } = await settle(gateway);
    await say(gateway, space, ada, SENTENCE);
    await quiet(gateway, 1);
    const { erasure } = await gateway.api(`/api/agents/${agent}?erase=true`, undefined, { method: 'DELETE' });
    await doneErasure(gateway, erasure.id);
    const { items } = await gateway.api(`/api/spaces/${space}/messages?limit=100`);
    expect(items.map(({ text }: { text: string }) => text)).toEqual([SENTENCE, '[erased]']);
    const { tables, files } = await where(PLANTED, SENTENCE);
    expect([tables[PLANTED], files[PLANTED]]).toEqual([[], []]);
    // What people wrote is still found by searches.
    expect(tables[SENTENCE]?.filter((table) => !table.startsWith('search_'))).toEqual(['messages']);
  }, 150_000);
});
