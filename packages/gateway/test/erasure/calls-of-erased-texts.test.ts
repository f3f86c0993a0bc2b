import { type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { fixedTool } from '../chat/chat-api.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { embedded } from '../support/stores.ts';
import { erasureGateways } from './erasure-gateways.ts';

const SENTENCE = 'my grandmother kept eleven blue parrots behind the harbour wall';

const mail = fixedTool('mail', 'x', {
  approval: true,
  executionType: 'gateway',
  execution: { template: 'Mailed: {{input.text}}' },
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
});

const courier = {
  name: 'courier',
  description: 'Carries.',
  executionType: 'gateway',
  inputSchema: { type: 'object', properties: { task: { type: 'string' } } },
  execution: { agentConfig: { instructions: 'You carry letters.', tools: ['mail'] } },
};

describe.each(embedded)('calls whose texts are erased, on $kind', ({ create }) => {
  const { open } = erasureGateways(forEachTest(create));

  /** Ada has written the sentence, and Ben has asked the agent to mail something. Its call waits, and the agent is paused. */
  async function waitingCall(gateway: TestGateway, tools: readonly string[]) {
    const { api, request } = gateway;
    for (const one of [mail, courier]) await api('/api/tools', one);
    const { id: agent } = await api('/api/agents', { name: 'Polly', instructions: 'Help.', tools });
    const person = async (displayName: string): Promise<string> =>
      (await api('/api/entities', { kind: 'human', displayName })).id;
    const [ada, ben] = [await person('Petronella Quackenbush'), await person('Ben')];
    const members = [agent, ada, ben].map((entityId) => ({ entityId }));
    const { id: space } = await api('/api/spaces', { name: 'Harbour', members });
    const say = (entityId: string, text: string) => api(`/api/spaces/${space}/messages`, { entityId, text });
    await say(ada, SENTENCE);
    await waitFor(async () => (await api('/api/runs?status=completed')).items.length >= 1);
    await say(ben, 'Mail it.');
    const { callId, runId } = await waitFor(async () => (await api('/api/pending')).items[0]);
    await waitFor(async () => (await api('/api/runs?status=running')).items.length === 0);
    await api(`/api/agents/${agent}/pause`, {});
    return {
      answer: async (answer: object, key?: string): Promise<number> =>
        (
          await request(
            `/api/runs/${runId}/tool-results`,
            { callId, ...answer },
            key === undefined ? undefined : { key },
          )
        ).status,
      tokenOfAda: async (): Promise<string> => (await api(`/api/entities/${ada}/token`, {})).token,
      eraseAda: async () => {
        const { id } = await api(`/api/entities/${ada}`, undefined, { method: 'DELETE' });
        await waitFor(async () => (await api(`/api/erasures/${id}`)).status === 'done', { timeoutMs: 60_000 });
      },
      resume: () => api(`/api/agents/${agent}/resume`, {}),
      endOf: () =>
        waitFor(
          async () => {
            const [{ id: newest }] = (await api(`/api/runs?agentId=${agent}&limit=1`)).items;
            const { items } = await api(`/api/runs/${newest}/transcript?limit=200`);
            const entries = items.map(({ entry }: { entry: object }) => entry);
            return entries.find(
              ({ kind, settlement }: { kind: string; settlement?: { callId: string } }) =>
                kind === 'settled' && settlement?.callId === callId,
            )?.settlement.outcome;
          },
          { timeoutMs: 30_000 },
        ),
    };
  }

  const asksToMail = (prompt: readonly object[]): boolean => JSON.stringify(prompt.slice(-2)).includes('Mail it');

  test.each(['waits', 'was answered'])(
    '[O3] a sub-agent that wants to act on an erased text does not, if its question %s',
    async (how) => {
      const requests: string[] = [];
      const gateway = await open(({ prompt }) => {
        const whole = JSON.stringify(prompt);
        requests.push(whole);
        if (whole.includes('You carry letters'))
          return prompt.at(-1)?.role === 'tool' ? 'It is mailed.' : { toolName: 'mail', input: { text: SENTENCE } };
        return asksToMail(prompt) ? { toolName: 'courier', input: { task: 'Mail what she said.' } } : 'All right.';
      });
      const { answer, eraseAda, resume, endOf } = await waitingCall(gateway, ['courier']);
      const approval = { result: { approve: true } };
      if (how === 'was answered') expect(await answer(approval)).toBe(200);
      const before = requests.length;
      await eraseAda();
      if (how === 'waits') expect(await answer(approval)).toBe(410);
      await resume();
      if (how === 'was answered') expect(await endOf()).toMatchObject({ status: 'error' });
      expect(requests.slice(before).filter((one) => one.includes(SENTENCE) || one.includes('Mailed: '))).toEqual([]);
    },
    120_000,
  );

  test('[O3] a call that was approved with an input that has a copy does not run with what is left', async () => {
    const gateway = await open(({ prompt }) =>
      asksToMail(prompt) ? { toolName: 'mail', input: { text: 'Hello.' } } : 'All right.',
    );
    const { answer, eraseAda, resume, endOf } = await waitingCall(gateway, ['mail']);
    expect(await answer({ approve: true, input: { text: `She says: ${SENTENCE}.` } })).toBe(200);
    await eraseAda();
    await resume();
    expect(await endOf()).toMatchObject({ status: 'error', code: 'denied' });
  }, 120_000);

  test('[O3] a call that the erased person approved, and that has not run, is denied, and its agent is told', async () => {
    const gateway = await open(({ prompt }) =>
      asksToMail(prompt)
        ? [
            { toolName: 'enter_space', input: { spaceId: '1' } },
            { toolName: 'mail', input: { text: 'Hello.' } },
          ]
        : 'All right.',
    );
    const { answer, tokenOfAda, eraseAda, resume, endOf } = await waitingCall(gateway, ['mail']);
    expect(await answer({ approve: true }, await tokenOfAda())).toBe(200);
    await eraseAda();
    await resume();
    expect(await endOf()).toMatchObject({ code: 'denied', text: expect.stringContaining('was erased before') });
  }, 120_000);
});
