import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { expect, it } from 'vitest';
import { RequestNotes } from '../../src/runtime/journal/request-notes.ts';
import { startTestGateway, type TestGateway } from '../../src/testing/index.ts';
import { desk } from './desk.ts';

const agents = [{ name: 'Desk', definition: 'desk' }];
const definitions = { desk };
const call = (toolName: string, input: object = {}) => [{ toolName, input }];

/** A request as it was sent, without the secret tag of the frame that has a summary. */
function asSent({ prompt, tools = [] }: LanguageModelV4CallOptions): object {
  const [first, ...messages] = prompt;
  const sent = JSON.stringify({ instructions: first?.content, messages, tools });
  return JSON.parse(sent.replaceAll(/<summary-\w+>/g, '<summary-hidden>'));
}

/** The requests of a run as the gateway shows them, in the order of their replies. */
async function shownOf(gateway: TestGateway, runId: string, steps: number): Promise<readonly object[]> {
  const shown: object[] = [];
  for (let step = 1; step <= steps; step++) {
    const { instructions, messages, tools } = await gateway.api(`/api/runs/${runId}/steps/${step}/request`);
    shown.push({ instructions, messages, tools });
  }
  return shown;
}

const inOrderOf = (shown: readonly object[], { requests }: ScriptedModel): readonly object[] =>
  // Workers of one step are asked in parallel, so their replies may be stored in another order.
  [...requests.map(asSent)].sort((one, other) => indexIn(shown, one) - indexIn(shown, other));

const indexIn = (all: readonly object[], one: object): number =>
  all.findIndex((other) => JSON.stringify(other) === JSON.stringify(one));

it('[A15] the request of each step of a machine is shown as it was sent, also those of parallel workers', async () => {
  const model = scriptedModel(({ prompt }) => {
    const system = String(prompt[0]?.content);
    const said = JSON.stringify(prompt);
    if (system.includes('Check one thing.'))
      return said.includes('cost 20')
        ? call('transition_report', { found: 'all is well' })
        : call('look_up', { order: 'A-1' });
    if (system.includes('Refund')) return 'Refunded.';
    return said.includes('all is well') ? call('transition_refund', { order: 'A-1' }) : call('transition_check_both');
  });
  await using gateway = await startTestGateway({ model, definitions, agents });
  const first = await gateway.api('/api/chat', { agent: 'Desk', message: 'Check everything.' });
  expect([first.response, model.requests.length]).toEqual(['Refunded.', 7]);
  const shown = await shownOf(gateway, first.run_id, 7);
  expect(shown).toEqual(inOrderOf(shown, model));
  const { status } = await gateway.request(`/api/runs/${first.run_id}/steps/8/request`);
  expect(status).toBe(404);
  // The next run continues the conversation of the first.
  const next = await gateway.api('/api/chat', { message: 'Thanks.', context_id: first.context_id });
  expect(await shownOf(gateway, next.run_id, 1)).toEqual([asSent(model.requests[7] as LanguageModelV4CallOptions)]);
});

it('[A15] the request that failed a run of a machine is shown too', async () => {
  const model = scriptedModel([call('look_up', { order: 'A-1' }), new Error('The provider is down.')]);
  await using gateway = await startTestGateway({ model, definitions, agents });
  const { error } = await gateway.api('/api/chat', { agent: 'Desk', message: 'What about A-1?' });
  const [run] = (await gateway.api(`/api/runs?contextId=${error.details.context_id}`)).items;
  expect(run.status).toBe('failed');
  expect(await shownOf(gateway, run.id, 2)).toEqual(
    [model.requests[0], model.requests.at(-1)].map((one) => asSent(one as LanguageModelV4CallOptions)),
  );
});

it('[A21] the requests after a compaction are shown as they were sent', async () => {
  const script = scriptedModel(['word '.repeat(2_000), call('look_up', { order: 'A-1' }), 'It cost 20 €.']);
  const summary = scriptedModel(() => 'They asked about A-1.');
  const model = { ...script, doGenerate: summary.doGenerate };
  const small = [{ name: 'Desk', definition: 'desk', limits: { consciousnessTokens: 1_000 } }];
  await using gateway = await startTestGateway({ model, definitions, agents: small });
  const { context_id } = await gateway.api('/api/chat', { agent: 'Desk', message: 'What about A-1?' });
  const { run_id } = await gateway.api('/api/chat', { message: 'Look it up.', context_id });
  const sent = script.requests.slice(1).map(asSent);
  expect(JSON.stringify(sent)).toContain('They asked about A-1.');
  expect(await shownOf(gateway, run_id, 2)).toEqual(sent);
});

it('[A15] a reply of a machine for which no model was asked is not shown with the request before', () => {
  const notes = new RequestNotes({ describe: (tools, toText) => toText(tools) });
  notes.noteOf({ thread: 'root', model: scriptedModel([]) }, { prompt: [{ role: 'system', content: 'Work.' }] });
  expect(notes.of(1, 'root')?.request.messages).toBe(1);
  expect(notes.of(1, 'root')).toBeUndefined();
});
