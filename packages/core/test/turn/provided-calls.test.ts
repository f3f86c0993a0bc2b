import { expect, test } from 'vitest';
import { jsonSchema, MaxConsecutiveNudgesExceeded, runTurn, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const stop = { unified: 'stop', raw: 'end_turn' } as const;
const search = [
  { type: 'tool-call' as const, toolCallId: 's1', toolName: 'search', input: '{"q":"x"}', providerExecuted: true },
  { type: 'tool-result' as const, toolCallId: 's1', toolName: 'search', result: '21 degrees' },
];
const found = { type: 'text' as const, text: 'It is 21 degrees.' };
const nothing = jsonSchema({ type: 'object' });
const look = tool({ description: 'Looks.', inputSchema: nothing, execute: () => 'seen' });

test('[T7] an answer after a search that the provider ran in the same reply ends the turn, without another request', async () => {
  const model = scriptedModel([{ content: [...search, found], finishReason: stop }]);
  const result = await runTurn({ model, prompt: 'How warm is it?' });
  expect(result.stop).toEqual({ reason: 'end_turn', by: 'text' });
  expect(result.response).toBe('It is 21 degrees.');
  expect(result.settlements).toMatchObject([{ toolName: 'search', outcome: { status: 'ok', value: '21 degrees' } }]);
  expect(result.steps).toBe(1);
});

test.each([
  ['no text after it, as when the provider paused', { content: [found, ...search], finishReason: stop }],
  ['a call for a tool of the turn beside it', { content: [...search, found], calls: [{ toolName: 'look' }] }],
])('[T7] the model is asked again after a search that the provider ran with %s', async (_, reply) => {
  const model = scriptedModel([reply, 'Done.']);
  const result = await runTurn({ model, prompt: 'How warm is it?', tools: { look } });
  expect([result.response, result.steps]).toEqual(['Done.', 2]);
});

test('[T7] [R18] under a contract an answer after a search of the provider is nudged, and counts as a reply in text', async () => {
  const reply = { content: [...search, found], finishReason: stop };
  const model = scriptedModel([reply, reply]);
  const running = runTurn({
    model,
    prompt: 'How warm is it?',
    tools: { look },
    terminating: { toolIds: ['look'], consecutiveNudges: 1 },
  });
  await expect(running).rejects.toBeInstanceOf(MaxConsecutiveNudgesExceeded);
  expect(model.requests[1]?.prompt.at(-1)?.role).toBe('system');
});

test('[T7] an answer that was cut off after a search of the provider is asked for again, shorter', async () => {
  const cut = { content: [...search, found], finishReason: { unified: 'length' as const, raw: undefined } };
  const model = scriptedModel([cut, '21 degrees.']);
  const { response } = await runTurn({ model, prompt: 'How warm is it?' });
  expect(response).toBe('21 degrees.');
  expect(JSON.stringify(model.requests[1]?.prompt.at(-1))).toContain('too long');
});

test('[T7] a call that the provider ran is recorded with its result, also if the turn has no tool of that name', async () => {
  const onServer = search.map((part) => ({ ...part, toolName: 'crm_lookup' }));
  const model = scriptedModel([{ content: [...onServer, found], finishReason: stop }]);
  const { settlements } = await runTurn({ model, prompt: 'Who is it?', tools: { look } });
  expect(settlements).toMatchObject([{ toolName: 'crm_lookup', outcome: { status: 'ok', text: '21 degrees' } }]);
});

test('[T7] what a provider reports before its result is not the result', async () => {
  const [asked, result] = search;
  const soon = { ...result, type: 'tool-result' as const, result: 'searching', preliminary: true };
  const model = scriptedModel([{ content: [asked, soon, result, found] as never, finishReason: stop }]);
  const { settlements } = await runTurn({ model, prompt: 'How warm is it?' });
  expect(settlements).toMatchObject([{ toolName: 'search', outcome: { status: 'ok', value: '21 degrees' } }]);
});
