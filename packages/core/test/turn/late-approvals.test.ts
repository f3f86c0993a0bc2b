import { expect, test } from 'vitest';
import { z } from 'zod';
import { runTurn, type ToolSet, Transcript, type TurnOptions, tool } from '../../src/index.ts';
import { crashingJournal } from '../../src/testing/crashing-journal.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';

const inputSchema = z.object({});
const approve = { approve: true } as const;
const leave = tool({
  ...{ description: 'Leaves.', inputSchema, approval: true, transition: true },
  execute: () => ({ to: 'billing' }),
});
const answer = tool({
  ...{ description: 'Answers.', inputSchema, approval: true, terminal: true },
  execute: () => 'the answer',
});
const act = tool({ description: 'Acts.', inputSchema, approval: true, execute: () => 'done' });
const bye = tool({ description: 'Ends.', inputSchema, terminal: true, execute: () => 'bye' });
const handedOver = { reason: 'transition', tool: 'leave', callId: 'call-1', value: { to: 'billing' } };

/** A turn that continued while its calls waited for approval. */
async function continued(tools: ToolSet, script: readonly ScriptedReply[], extra: Partial<TurnOptions> = {}) {
  const model = scriptedModel(script);
  const options: TurnOptions = { model, tools, onPending: 'continue', newId: sequentialIds(), ...extra };
  const { transcript } = await runTurn({ ...options, prompt: 'Go.' }).catch((error) => error);
  return { model, options: { ...options, transcript }, asked: model.requests.length };
}

for (const prompt of [undefined, 'And?']) {
  test(`[R11] [R43] a transition that is approved after its turn had continued stops the turn before the model is asked${prompt === undefined ? '' : ', also with a prompt'}`, async () => {
    const { model, options, asked } = await continued({ leave }, [{ toolName: 'leave' }, 'Meanwhile.', 'Never.']);
    const given = prompt === undefined ? {} : { prompt };
    const result = await runTurn({ ...options, ...given, answers: { 'call-1': approve } });
    expect(result).toMatchObject({ stop: handedOver, response: '', pending: [] });
    expect(model.requests.length).toBe(asked);
    // It can be run again and stored like any finished turn.
    const { transcript } = result;
    const again = await runTurn({ ...options, transcript: Transcript.fromJSON(transcript.toJSON()) });
    expect(again.stop).toEqual(handedOver);
  });
}

test('[R11] of two transitions that are approved after their turns had continued only the first runs', async () => {
  const script = [[{ toolName: 'leave' }, { toolName: 'leave' }], 'Meanwhile.'];
  const { options } = await continued({ leave }, script);
  const { stop, settlements } = await runTurn({ ...options, answers: { 'call-1': approve, 'call-2': approve } });
  expect(stop).toEqual(handedOver);
  expect(settlements.map(({ outcome }) => outcome)).toMatchObject([
    { status: 'ok' },
    { status: 'error', code: 'transition_already_called' },
  ]);
});

test('[R11] a transition that is denied after its turn had continued stops nothing', async () => {
  const { options } = await continued({ leave }, [{ toolName: 'leave' }, 'Meanwhile.', 'Then not.']);
  const { response } = await runTurn({ ...options, answers: { 'call-1': { deny: 'no' } } });
  expect(response).toBe('Then not.');
});

test('[R24] a turn that stops for such a transition has settled the batch that waited with it', async () => {
  const ask = tool({ description: 'Asks.', inputSchema });
  const script = [{ toolName: 'leave' }, 'Meanwhile.', [{ toolName: 'ask' }, { toolName: 'ask' }], 'Never.'];
  const { options } = await continued({ leave, ask }, script);
  const suspended = await runTurn({ ...options, onPending: 'suspend', prompt: 'Now ask.' });
  expect(suspended.stop).toEqual({ reason: 'suspended' });
  const answers = { 'call-1': approve, 'call-2': { result: 'red' } };
  const { stop, settlements, pending } = await runTurn({ ...options, onPending: 'suspend', answers });
  expect(stop).toEqual(handedOver);
  expect(settlements.map(({ callId }) => callId).sort()).toEqual(['call-1', 'call-2']);
  expect(pending).toMatchObject([{ callId: 'call-3' }]);
});

test('[R49] a process that dies after such a transition hands over when its turn continues', async () => {
  const { options } = await continued({ leave }, [{ toolName: 'leave' }, 'Meanwhile.', 'Never.']);
  const journal = crashingJournal(4);
  await runTurn({ ...options, journal, answers: { 'call-1': approve } }).catch(() => {});
  expect(journal.writes).toEqual(['turn', 'started', 'settled leave', 'stop']);
  const transcript = Transcript.fromJSON(options.transcript.toJSON());
  expect(transcript.entries.at(-1)).toMatchObject({ kind: 'settled', late: true });
  const again = await runTurn({ ...options, transcript });
  expect(again.stop).toEqual(handedOver);
});

test('[R16] a listed tool that is approved after its turn had continued ends the run', async () => {
  const terminating = { toolIds: ['act'], consecutiveNudges: 0 };
  const { model, options, asked } = await continued({ act }, [{ toolName: 'act' }, 'Waiting.'], { terminating });
  const result = await runTurn({ ...options, answers: { 'call-1': approve } });
  expect(result).toMatchObject({ stop: { reason: 'end_turn', by: 'terminating', tool: 'act' }, response: 'done' });
  expect(model.requests.length).toBe(asked);
  const { transcript } = result;
  const again = await runTurn({ ...options, transcript: Transcript.fromJSON(transcript.toJSON()) });
  expect(again.response).toBe('done');
});

test('[R16] a listed tool that was asked for before a new prompt does not end the run of that prompt', async () => {
  const terminating = { toolIds: ['act', 'bye'], consecutiveNudges: 0 };
  const script = [{ toolName: 'act' }, 'Waiting.', { toolName: 'bye' }];
  const { options } = await continued({ act, bye }, script, { terminating });
  const { response } = await runTurn({ ...options, prompt: 'Another task.', answers: { 'call-1': approve } });
  expect(response).toBe('bye');
});

test('[R8] a terminal tool that is approved after its turn had continued does not end it: the model reads the output', async () => {
  const { model, options } = await continued({ answer }, [{ toolName: 'answer' }, 'Meanwhile.', 'It says so.']);
  const { response } = await runTurn({ ...options, answers: { 'call-1': approve } });
  expect(response).toBe('It says so.');
  expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain('the answer');
});

test('[R8] [R42] a nested turn in such a call does not end the turn, and the terminal tool that does gives the response', async () => {
  const nest = tool({
    ...{ description: 'Runs a turn.', inputSchema, approval: true },
    execute: async (_input, ctx) => {
      const inner = tool({ description: 'Ends.', inputSchema, terminal: true, execute: () => 'inner' });
      const model = scriptedModel([{ toolName: 'inner' }]);
      return (await ctx.runTurn({ model, tools: { inner }, prompt: 'Go.', endsParent: true })).response;
    },
  });
  const script = [{ toolName: 'nest' }, 'Meanwhile.', { toolName: 'bye' }];
  const { options } = await continued({ nest, bye }, script);
  const { response, stop } = await runTurn({ ...options, answers: { 'call-1': approve } });
  expect({ response, stop }).toEqual({ response: 'bye', stop: { reason: 'end_turn', by: 'terminal', tool: 'bye' } });
});
