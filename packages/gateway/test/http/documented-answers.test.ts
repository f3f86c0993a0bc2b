import { pending, rewindTool, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { pushServiceEvent } from '../../src/domain/inbox/push-service-event.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { openApi } from './api.ts';

const input = z.object({}).loose();
const tools = {
  fine: tool({ description: 'Works.', inputSchema: input, execute: () => ({ reference: 7 }) }),
  silent: tool({ description: 'Returns nothing.', inputSchema: input, execute: () => undefined }),
  broken: tool({
    description: 'Throws.',
    inputSchema: input,
    execute: () => {
      throw new Error('It broke.');
    },
  }),
  ask: tool({
    description: 'Asks somebody.',
    inputSchema: input,
    execute: () => pending({ display: { customUI: 'confirmAction' }, expiresInMs: 60_000 }),
  }),
  // The display of a tool may be any JSON.
  hint: tool({ description: 'Asks oddly.', inputSchema: input, execute: () => pending({ display: 'a hint' }) }),
  leave: { tool: tool({ description: 'Needs leave.', inputSchema: input, approval: true, execute: () => 'gone' }) },
  file_report: tool({ description: 'Ends.', inputSchema: input, terminal: true, execute: () => 'the report' }),
  rewind: rewindTool,
};

describeWorlds('answers of the gateway', (open) => {
  const database = { open: () => Promise.reject(new Error('The store is open already.')) } as never;

  test('runs, transcripts, calls, agents, inboxes and waiting calls of many kinds match /openapi.json', async () => {
    const calls = (...names: string[]) => ({ calls: names.map((toolName) => ({ toolName, input: {} })) });
    const model = scriptedModel([
      { toolName: 'rewind', input: { reason: 'wrong way', guidance: 'go another way' } },
      calls('fine', 'silent', 'broken', 'ask', 'hint', 'leave', 'no_such_tool'),
      'Waiting.',
      'Answered.',
      'Approved.',
      calls('file_report', 'fine'),
      () => {
        throw new Error('The model is away.');
      },
    ]);
    const world = await open({ models: { default: model }, tools, agentLimits: { maxAttempts: 1 } });
    const { ada, bot, space } = await lobby(world, { tools: Object.keys(tools) }, { isIn: true });
    const api = await openApi(database, { services: world.services });
    const waiting = async () =>
      (await api.done<{ items: { callId: string; runId: string; toolName: string }[] }>('GET', '/api/pending')).items;
    await world.say(space, ada, 'Do it all.');
    await world.idle();
    const [, runId] = [bot, (await waiting())[0]?.runId ?? ''];
    const callOf = async (name: string) =>
      (await waiting()).find(({ toolName }) => toolName === name)?.callId ?? `no ${name}`;
    await answer(world.services, {
      runId,
      callId: await callOf('ask'),
      answer: { result: true },
      by: { entityId: ada },
    });
    await world.idle();
    await answer(world.services, {
      runId,
      callId: await callOf('leave'),
      answer: { approve: true },
      by: { key: true },
    });
    await world.idle();
    for (const name of ['report', 'fail'])
      await world.in((tx) => pushServiceEvent(tx, { agentId: bot, source: 'test', name, data: 1 }));
    await world.idle();
    // Each of these is checked against the document by `done`.
    const { items: runs } = await api.done<{ items: { id: string }[] }>('GET', `/api/runs?agentId=${bot}`);
    const kinds = new Set<string>();
    for (const { id } of runs) {
      await api.done('GET', `/api/runs/${id}`);
      const transcript = await api.done<{ items: { kind: string; entry: { settlement?: { callId: string } } }[] }>(
        'GET',
        `/api/runs/${id}/transcript`,
      );
      for (const { kind } of transcript.items) kinds.add(kind);
    }
    for (const path of ['inbox', 'consciousness', 'transcript', 'goals', 'memories', 'plans', ''])
      await api.done('GET', `/api/agents/${bot}${path === '' ? '' : `/${path}`}`);
    for (const status of ['pending', 'resolved', 'expired', 'cancelled'])
      await api.done('GET', `/api/pending?status=${status}`);
    await api.done('GET', `/api/spaces/${space}/messages`);
    await api.done('GET', '/api/agents');
    expect([...kinds].toSorted().join(' ')).toBe('checkpoint message pending reply rewind settled started stop turn');
    api.app.stop();
  });
});
