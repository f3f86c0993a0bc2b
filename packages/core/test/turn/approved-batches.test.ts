import { expect, test } from 'vitest';
import { z } from 'zod';
import { pending, runTurn, Transcript, tool } from '../../src/index.ts';
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

const asks = { description: 'Asks.', inputSchema: z.object({}) };

/** Tools that ask before they act, and the names of those that have acted. */
function askingTools() {
  const acted: string[] = [];
  const made = (name: string, traits: object) =>
    tool({
      ...{ ...asks, ...traits },
      execute: (_input, { answer }) => {
        if (answer === undefined) return pending({ asks: true });
        acted.push(name);
        return name;
      },
    });
  return { acted, tools: { submit: made('submit', {}), leave: made('leave', { transition: true }) } };
}

test.each([
  ['[R11] of two transitions that asked', 'leave', 'suspend', 'transition_already_called'],
  ['[R11] of two transitions that asked and were answered late', 'leave', 'continue', 'transition_already_called'],
  ['[R16] of two listed calls that asked', 'submit', 'suspend', 'skipped'],
  ['[R16] of two listed calls that asked and were answered late', 'submit', 'continue', 'skipped'],
] as const)('%s only the first runs again', async (_what, toolName, onPending, end) => {
  const { acted, tools } = askingTools();
  const model = scriptedModel([[{ toolName }, { toolName }], 'Meanwhile.']);
  const listed = { terminating: { toolIds: ['submit'], consecutiveNudges: 0 } };
  const contract = toolName === 'submit' ? listed : {};
  const options = { model, tools, onPending, newId: sequentialIds(), ...contract };
  // Without a call, a run under a contract ends with an error, and what was done is not lost.
  const { transcript } = await runTurn({ ...options, prompt: 'Go.' }).catch((error) => error);
  const answers = { 'call-1': { result: 'yes' }, 'call-2': { result: 'yes' } };
  const { settlements } = await runTurn({ ...options, transcript, answers });
  expect(acted).toEqual([toolName]);
  expect(settlements.map(({ outcome }) => (outcome.status === 'error' ? outcome.code : outcome.status))).toEqual([
    'ok',
    end,
  ]);
});

test.each([
  ['[R10] a second terminal call', 'answer', 'terminal_already_called'],
  ['[R11] a second transition', 'leave', 'transition_already_called'],
  ['[R16] a second listed call', 'act', 'skipped'],
] as const)(
  '%s does not run if both were approved after their turn had continued, together or one by one',
  async (_what, toolName, end) => {
    for (const rounds of [[['call-1', 'call-2']], [['call-1'], ['call-2']]]) {
      const { ran, tools } = approvedTools();
      const model = scriptedModel([[{ toolName }, { toolName }], 'Meanwhile.', 'Go on.', 'The end.']);
      const contract = toolName === 'act' ? { terminating: { toolIds: ['act'], consecutiveNudges: 0 } } : {};
      const options = { model, tools, onPending: 'continue', newId: sequentialIds(), ...contract } as const;
      let { transcript } = await runTurn({ ...options, prompt: 'Go.' }).catch((error) => error);
      for (const ids of rounds) {
        const answers = Object.fromEntries(ids.map((id) => [id, approve]));
        ({ transcript } = await runTurn({ ...options, transcript, answers }).catch((error) => error));
      }
      expect(ran).toEqual([toolName]);
      const last = transcript.progress.settled.at(-1)?.outcome;
      expect(last?.status === 'error' ? last.code : last?.status).toBe(end);
    }
  },
);

test('[R10] a terminal call that is approved after a later one of its batch has ended the turn does not run', async () => {
  const { ran, tools } = approvedTools();
  const bye = tool({ ...asks, terminal: true, execute: () => void ran.push('bye') });
  for (const given of [{}, { prompt: 'And?' }]) {
    ran.length = 0;
    const options = {
      model: scriptedModel([[{ toolName: 'answer' }, { toolName: 'bye' }], 'The end.']),
      tools: { ...tools, bye },
      newId: sequentialIds(),
    };
    const { transcript, stop } = await runTurn({ ...options, prompt: 'Go.' });
    expect(stop).toMatchObject({ tool: 'bye' });
    const result = await runTurn({ ...options, ...given, transcript, answers: { 'call-1': approve } });
    expect(ran).toEqual(['bye']);
    expect(JSON.stringify(result.transcript.view())).toContain('has already given the response');
  }
});
