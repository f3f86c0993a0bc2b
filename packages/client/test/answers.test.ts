import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { createClient } from '../src/index.ts';

const tools = {
  confirm: {
    executionType: 'space',
    resultSchema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
  },
  hurry: { executionType: 'space', expiresInMs: 1 },
} as const;

test('[S10] an answer wins, repeats the same answer, loses to another person, comes too late, or does not fit, and each is a value', async () => {
  let spaceId = '';
  const calls = [
    { toolName: 'confirm', input: {} },
    { toolName: 'hurry', input: {} },
  ];
  await using gateway = await startTestGateway({
    model: scriptedModel([
      () => ({ toolName: 'enter_space', input: { spaceId } }),
      { calls },
      'Waiting.',
      'Thanks.',
      'Thanks.',
      'Thanks.',
    ]),
    agents: [{ name: 'Clerk', instructions: 'Ask.', tools: Object.keys(tools) }],
    tools,
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: ['ada', 'ben'].map((name) => ({ name, externalId: name })) }],
  });
  const admin = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
  const as = async (externalId: string) => {
    const [person] = (await admin.entities.list({ externalId })).items;
    const id = person?.id ?? '';
    return { id, client: createClient({ url: gateway.url, auth: { token: (await admin.entities.token(id)).token } }) };
  };
  const [ada, ben] = [await as('ada'), await as('ben')];
  spaceId = (await ada.client.spaces.list()).items[0]?.id ?? '';
  await ada.client.spaces.say(spaceId, { text: 'Ask us.' });
  const find = async (toolName: string, status: 'pending' | 'expired' = 'pending') =>
    await waitFor(async () => (await admin.pending.list({ status })).items.find((one) => one.toolName === toolName));
  const confirm = await find('confirm');
  const invalid = await admin.pending.answer(confirm, { result: { yes: 'perhaps' } });
  expect(invalid).toMatchObject({ status: 'invalid', problems: [{ path: 'result.yes' }] });
  expect(await admin.pending.answer(confirm, { deny: 'No.' })).toMatchObject({ status: 'invalid' });
  const won = await ben.client.pending.answer(confirm, { result: { yes: true } });
  const runId = won.status === 'won' ? won.runId : '';
  expect(won).toEqual({ status: 'won', runId: expect.any(String) });
  expect(await ben.client.pending.answer(confirm, { result: { yes: true } })).toEqual({ status: 'same', runId });
  expect((await admin.runs.get(runId)).trigger.map(({ callId }) => callId)).toContain(confirm.callId);
  expect(await ada.client.pending.answer(confirm, { result: { yes: false } })).toEqual({
    status: 'lost',
    answer: { result: { yes: true } },
    by: { id: ben.id, name: 'ben' },
    at: expect.any(Number),
  });
  const late = await admin.pending.answer(await find('hurry', 'expired'), { result: 1 });
  expect(late).toMatchObject({ status: 'expired', at: expect.any(Number) });
  // A person who may not answer gets an error: there is nothing to show on a card.
  await expect(ben.client.pending.answer({ ...confirm, runId: 'other' }, { result: 1 })).rejects.toMatchObject({
    status: 404,
  });
});
