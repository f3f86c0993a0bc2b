import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerersById } from '../../src/domain/calls/answerers-by-id.ts';
import { createEntity } from '../../src/domain/entities/entity.ts';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

test('[G33] a configuration file names the people who may answer by their externalId, also for calls without a card', async () => {
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({}),
    approval: true,
    execute: () => 'Paid.',
  });
  await using gateway = await startTestGateway({
    model: scriptedModel([{ toolName: 'pay' }, 'It waits.', 'Done.']),
    tools: { pay: { tool: pay, answerers: { entities: ['grace', 'not created yet'] } } },
    agents: [{ name: 'Desk', instructions: 'Help.', tools: ['pay'] }],
    spaces: [
      {
        name: 'Support',
        agents: ['Desk'],
        people: [
          { name: 'Grace', externalId: 'grace' },
          { name: 'Ann', externalId: 'ann' },
        ],
      },
    ],
  });
  const { api } = gateway;
  const [{ id }] = (await api('/api/agents')).items;
  const personWithToken = async (externalId: string) => {
    const [person] = (await api(`/api/entities?externalId=${externalId}`)).items;
    return { id: person.id, key: (await api(`/api/entities/${person.id}/token`, {})).token };
  };
  const [grace, ann] = [await personWithToken('grace'), await personWithToken('ann')];

  // The agent is woken outside of any space, as by a hook, so the call has no card.
  await api(`/api/agents/${id}/events`, { source: 'slack', name: 'message' });
  const call = await waitFor(async () => (await api('/api/pending')).items[0]);
  expect(call.spaceId).toBeUndefined();
  expect(call.answeredBy).toEqual({ entities: [grace.id, 'not created yet'] });
  expect((await api('/api/pending', undefined, ann)).items).toEqual([]);
  expect((await api('/api/pending', undefined, grace)).items).toMatchObject([{ callId: call.callId }]);

  const answer = { callId: call.callId, approve: true };
  const refused = await api(`/api/runs/${call.runId}/tool-results`, answer, ann);
  expect(refused.error.code).toBe('not_found');
  const { runId } = await api(`/api/runs/${call.runId}/tool-results`, answer, grace);
  await waitFor(async () => (await api(`/api/runs/${runId}`)).status === 'completed');
  const [answered] = (await api('/api/pending?status=resolved')).items;
  expect(answered).toMatchObject({ toolName: 'pay', resolvedBy: grace.id });
});

describeIdleWorld('answerers by externalId', ({ world }) => {
  test('[G33] an id names the person who has it, also if another person has it as their externalId', async () => {
    const { store } = world;
    const agent = await world.agent('Desk');
    const person = (displayName: string, externalId: string) =>
      world.in((tx) => createEntity(tx, { kind: 'human', displayName, externalId }));
    const grace = await person('Grace', 'grace');
    await person('Mallory', grace.id);

    for (const name of [grace.id, 'grace'])
      expect(await answerersById(store.db, agent, { entities: [name] })).toEqual({ entities: [grace.id] });
  });
});
