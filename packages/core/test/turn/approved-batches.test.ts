import { expect, test } from 'vitest';
import { z } from 'zod';
import { runTurn, Transcript, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';

const approve = { approve: true } as const;

/** Tools that all wait for approval, and the names of those that have run. */
function approvedTools() {
  const ran: string[] = [];
  const made = (name: string, traits: object = {}) =>
    tool({
      ...{ description: 'Waits for approval.', inputSchema: z.object({}), approval: true, ...traits },
      execute: () => {
        ran.push(name);
        return name;
      },
    });
  const tools = {
    act: made('act'),
    answer: made('answer', { terminal: true }),
    leave: made('leave', { transition: true }),
  };
  return { ran, tools };
}

test.each([
  ['[R10] a second terminal call', ['answer', 'answer'], 'terminal_already_called'],
  ['[R11] a second transition', ['leave', 'leave'], 'transition_already_called'],
  ['[R12] a call after a terminal call', ['answer', 'act'], 'skipped'],
] as const)('%s does not run if both were approved', async (_what, names, end) => {
  const { ran, tools } = approvedTools();
  const calls = names.map((toolName) => ({ toolName }));
  const options = { model: scriptedModel([calls]), tools, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'Go.' });
  const answers = { 'call-1': approve, 'call-2': approve };
  const { settlements, stop } = await runTurn({ ...options, transcript, answers });
  expect(ran).toEqual([names[0]]);
  expect(stop).toMatchObject({ tool: names[0] });
  const { outcome } = settlements[1] ?? {};
  expect(outcome?.status === 'error' ? outcome.code : outcome?.status).toBe(end);
  // The sender of an answer may repeat it, also after the call was kept from running.
  const again = await runTurn({ ...options, transcript: Transcript.fromJSON(transcript.toJSON()), answers });
  expect(again.settlements).toEqual(settlements);
});

test('[R16] of two approved calls of a listed tool only the first runs', async () => {
  const { ran, tools } = approvedTools();
  const model = scriptedModel([[{ toolName: 'act' }, { toolName: 'act' }]]);
  const options = { model, tools, terminating: { toolIds: ['act'] }, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'Go.' });
  const answers = { 'call-1': approve, 'call-2': approve };
  const { settlements } = await runTurn({ ...options, transcript, answers });
  expect(ran).toEqual(['act']);
  expect(settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'skipped']);
});

test('[R11] an approved transition after an approved terminal call still runs', async () => {
  const { ran, tools } = approvedTools();
  const model = scriptedModel([[{ toolName: 'answer' }, { toolName: 'leave' }]]);
  const options = { model, tools, newId: sequentialIds() };
  const { transcript } = await runTurn({ ...options, prompt: 'Go.' });
  const answers = { 'call-1': approve, 'call-2': approve };
  const { stop } = await runTurn({ ...options, transcript, answers });
  expect(ran).toEqual(['answer', 'leave']);
  expect(stop).toMatchObject({ reason: 'transition', value: 'leave' });
});
