import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { desk } from '../../gateway/test/machines/desk.ts';
import { createClient, everyItem, type Run, type RunEntry } from '../src/index.ts';
import { type TimelineRow, toTimeline } from '../src/timeline/index.ts';
import { toSteps } from '../src/timeline/steps.ts';

const definitions = { desk };
const agents = [{ name: 'Desk', definition: 'desk' }];
const call = (toolName: string, input: object = {}) => [{ toolName, input }];

/** Two workers look an order up and report, then the machine goes on to a refund, which waits for approval. */
const workers = () =>
  scriptedModel(({ prompt }) => {
    const [instructions, said] = [String(prompt[0]?.content), JSON.stringify(prompt)];
    if (instructions.includes('Check one thing.'))
      return said.includes('cost 20')
        ? call('transition_report', { found: 'all is well' })
        : call('look_up', { order: 'A-1' });
    if (instructions.includes('Refund'))
      return said.includes('pay_back') ? 'Paid.' : call('pay_back', { order: 'A-1' });
    return said.includes('all is well') ? call('transition_refund', { order: 'A-1' }) : call('transition_check_both');
  });

async function readRun({ url, secretKey }: TestGateway, id: string): Promise<[Run, readonly RunEntry[]]> {
  const client = createClient({ url, auth: { key: secretKey } });
  return [await client.runs.get(id), await everyItem((page) => client.runs.transcript(id, page))];
}

const inWords = (row: TimelineRow): string => {
  const by = 'origin' in row && row.origin !== undefined ? ` of ${row.origin.node}` : '';
  if (row.kind === 'step') return `step ${row.step}${by}`;
  return row.kind === 'call' ? `${row.step}: ${row.toolName} ${row.outcome}${by}` : `${row.kind}${by}`;
};

test("[A18] the timeline of a machine's run counts the steps of all instances, and names the node of each", async () => {
  await using gateway = await startTestGateway({ model: workers(), definitions, agents });
  const { run_id } = await gateway.api('/api/chat', { agent: 'Desk', message: 'Check everything, then refund.' });
  const [run, entries] = await readRun(gateway, run_id);
  const { rows, steps } = toTimeline(run, entries);
  expect(steps).toBe(7);
  // The rows of two workers that act at the same time may be in any order.
  expect(rows.map(inWords).toSorted()).toEqual(
    [
      'message of triage',
      'step 1 of triage',
      '1: transition_check_both ok of triage',
      'message of check',
      'message of check',
      'step 2 of check',
      '2: look_up ok of check',
      'step 3 of check',
      '3: look_up ok of check',
      'step 4 of check',
      '4: transition_report ok of check',
      'step 5 of check',
      '5: transition_report ok of check',
      'message of triage',
      'message of triage',
      'step 6 of triage',
      '6: transition_refund ok of triage',
      'step 7 of refund',
      '7: pay_back waiting of refund',
      'stop',
    ].toSorted(),
  );
  const instances = rows.flatMap((row) => (row.kind === 'step' ? [row.origin?.instanceId] : []));
  expect(new Set(instances)).toEqual(new Set(['root', 'root.1', 'root.2']));
  // The stop of the run is the last row, and the stops of the instances are not rows.
  expect(rows.at(-1)?.kind).toBe('stop');
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  expect(toSteps(entries).map(({ step, node }) => [step, node])).toEqual([
    [1, 'triage'],
    [2, 'check'],
    [3, 'check'],
    [4, 'check'],
    [5, 'check'],
    [6, 'triage'],
    [7, 'refund'],
  ]);
});

test("[A22] the stream of a machine's run counts the steps of all instances, so that no step is taken for another", async () => {
  await using gateway = await startTestGateway({ model: workers(), definitions, agents });
  const { chat } = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
  const started: number[] = [];
  for await (const event of chat.stream({ agent: 'Desk', message: 'Check everything, then refund.' }))
    if (event.type === 'step.start') started.push(event.step);
  expect(started).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('[A19] the client gives commands once per key, and the timeline shows how each ended', async () => {
  await using gateway = await startTestGateway({ model: workers(), definitions, agents });
  const { context_id: contextId } = await gateway.api('/api/chat', { agent: 'Desk', message: 'Check, then refund.' });
  const client = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
  const [agent] = (await client.agents.list()).items;
  const id = agent?.id ?? '';
  const close = { name: 'close', input: { note: 'paid' }, idempotencyKey: 'once' };
  expect(await client.agents.command(id, close, { contextId })).toMatchObject({ output: 'paid', duplicate: false });
  expect(await client.agents.command(id, close, { contextId })).toMatchObject({ output: 'paid', duplicate: true });
  await expect(client.agents.command(id, { name: 'close', input: {} }, { contextId })).rejects.toThrow(/note/);
  expect(await client.agents.machine(id, { contextId })).toMatchObject({
    instances: [{ node: 'refund', state: { order: 'closed: paid' } }],
    waiting: [{ toolName: 'pay_back' }],
  });
  expect(await client.agents.session(id, { contextId })).toHaveProperty('slices');
  const runs = (await client.runs.list({ agentId: id })).items.filter(({ trigger }) => trigger[0]?.type === 'command');
  const ends = await Promise.all(
    runs.map(async ({ id: runId }) => toTimeline(...(await readRun(gateway, runId))).rows.map(endInWords)),
  );
  expect(ends).toEqual([
    ['close failed', 'stop'],
    ['close ran', 'stop'],
  ]);
});

function endInWords(row: TimelineRow): string {
  return row.kind === 'command' ? `${row.name} ${row.error === undefined ? 'ran' : 'failed'}` : row.kind;
}
