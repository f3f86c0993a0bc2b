import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openWait } from '../../src/domain/calls/open-wait.ts';
import { listTurns } from '../../src/domain/conversations/list-turns.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { databases } from '../support/stores.ts';
import type { World } from '../support/world.ts';
import { call, chatApi, fixedTool } from './chat-api.ts';

const nothing = z.object({});

async function rowsOf({ store }: World, runId: string) {
  return await store.db.selectFrom('calls').selectAll().where('run_id', '=', runId).orderBy('id').execute();
}

describeWorlds(
  'calls that wait in runs that are not saved',
  (open) => {
    test('[C4] a call that waits at the end of such a run is settled as cancelled, and an answer comes too late', async () => {
      const inputSchema = z.object({ to: z.string() });
      const pay = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'Paid.' });
      const model = scriptedModel([call('pay', { to: 'SECRET-7' }), 'Hello.']);
      const world = await open({ models: { default: model }, tools: { pay } });
      const api = await chatApi(world);
      const agent = await api.agent('Payer', { tools: ['pay'] });
      const unsaved = await api.done('POST', '/chat', { agent, message: 'Pay', save: false });
      expect(unsaved.stop).toMatchObject({ reason: 'suspended' });
      const runId = String(unsaved.run_id);
      const [row, ...others] = await rowsOf(world, runId);
      expect(others).toEqual([]);
      expect(JSON.stringify(row)).not.toContain('SECRET-7');
      expect(row).toMatchObject({
        ...{ status: 'settled', settled_at: expect.any(Number), outcome: null, outcome_status: 'cancelled' },
        ...{ wait_status: 'cancelled', answered_at: expect.any(Number) },
      });
      expect((await api.done('GET', `/api/runs/${runId}`)).counts).toMatchObject({ cancelled: 1, waiting: 0 });
      const late = await api.call('POST', `/api/runs/${runId}/tool-results`, {
        body: { callId: row?.id, approve: true },
      });
      expect(late).toMatchObject({ status: 410, body: { error: { code: 'cancelled' } } });
      const { context_id } = unsaved;
      expect((await api.done('POST', '/chat', { context_id, message: 'Hi' })).response).toBe('Hello.');
    });

    test('[C4] the answer to a call of an earlier turn continues that turn, also if a turn that is not saved came between', async () => {
      const pay = tool({ description: 'Pays.', inputSchema: nothing, approval: true, execute: () => 'Paid.' });
      const model = scriptedModel([call('pay'), 'Hello.', 'It is paid.']);
      const world = await open({ models: { default: model }, tools: { pay } });
      const api = await chatApi(world);
      const agent = await api.agent('Payer', { tools: ['pay'] });
      const asked = await api.done('POST', '/chat', { agent, message: 'Pay' });
      const [runId, contextId] = [String(asked.run_id), String(asked.context_id)];
      await api.done('POST', '/chat', { context_id: contextId, message: 'Hi', save: false });
      const [row] = await rowsOf(world, runId);
      const answered = await api.done('POST', `/api/runs/${runId}/tool-results`, { callId: row?.id, approve: true });
      await world.idle();
      const turns = await listTurns(world.store.db, contextId, { limit: 10 });
      expect(turns.map(({ runIds }) => runIds)).toEqual([[runId, answered.runId]]);
    });

    test('[C4] a job that such a run leaves behind ends, and workers are notified', async () => {
      const world = await open({ models: { default: scriptedModel([call('print')]) } });
      const api = await chatApi(world);
      await api.done('POST', '/api/tools', fixedTool('print', '', { executionType: 'external', execution: {} }));
      const agent = await api.agent('Printer', { tools: ['print'] });
      const { run_id } = await api.done('POST', '/chat', { agent, message: 'Print', save: false });
      const [row] = await rowsOf(world, String(run_id));
      const ended = world.told.filter(({ type }) => type === 'job.ended').map(({ payload }) => payload);
      expect(ended).toEqual([{ callId: row?.id, status: 'cancelled' }]);
    });

    test('[C4] a question that a tool of such a run asked during its call is settled with the run', async () => {
      let world: World | undefined;
      const ask = tool({
        description: 'Asks, and does not wait for the answer.',
        inputSchema: nothing,
        async execute(_input, { toolCallId }) {
          await world?.in(async (tx) => {
            const asking = await tx.db
              .selectFrom('calls')
              .select(['thread_id', 'agent_id', 'run_id'])
              .where('id', '=', toolCallId)
              .executeTakeFirstOrThrow();
            const { thread_id: threadId, agent_id: agentId, run_id: runId } = asking;
            const question = { callId: `${toolCallId}-question`, threadId, agentId, runId, duringCall: toolCallId };
            await openWait(tx, { ...question, toolName: 'ask', kind: 'input', input: {} });
          });
          return 'Asked.';
        },
      });
      world = await open({ models: { default: scriptedModel([call('ask'), 'Done.']) }, tools: { ask } });
      const api = await chatApi(world);
      const agent = await api.agent('Asker', { tools: ['ask'] });
      const { run_id } = await api.done('POST', '/chat', { agent, message: 'Ask', save: false });
      const rows = await rowsOf(world, String(run_id));
      expect(rows).toMatchObject([
        { during_call: expect.any(String), status: 'settled', wait_status: 'cancelled', outcome_status: null },
      ]);
      expect(rows[0]?.settled_at).toBe(rows[0]?.answered_at);
    });

    test.each([true, false])('[C4] the work of sub-agents is kept only if the run is saved: %s', async (save) => {
      const usage = {
        inputTokens: { total: 5, noCache: 5, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      };
      const model = scriptedModel([call('ask'), { text: 'SECRET-7', usage }, 'Done.']);
      const ask = {
        executionType: 'gateway',
        visible: false,
        execution: { agentConfig: { instructions: 'Say it.' } },
      } as const;
      const world = await open({ models: { default: model }, tools: { ask } });
      const api = await chatApi(world);
      const agent = await api.agent('Asker', { tools: ['ask'] });
      const { run_id } = await api.done('POST', '/chat', { agent, message: 'Ask', save });
      const turns = world.store.db.selectFrom('sub_agent_turns').select('steps').where('run_id', '=', String(run_id));
      expect((await turns.execute()).map(({ steps }) => steps.includes('SECRET-7'))).toEqual(save ? [true] : []);
    });
  },
  databases,
);
