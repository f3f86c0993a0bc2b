import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases, locationOf } from '../support/stores.ts';

const ids = (items: readonly { readonly runId: string }[]) => items.map(({ runId }) => runId);

describe.each(databases)('evaluations on $kind', ({ create }) => {
  const desk = forAllTests(async () => {
    const database = await create();
    let paid = 0;
    const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => `Payment ${++paid}.` });
    const model = scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? 'It is paid.' : { toolName: 'pay', input: {} },
    );
    const agents = [{ name: 'Clerk', instructions: 'You pay.', tools: ['pay'] }];
    const gateway = await startTestGateway({ ...locationOf(database), model, tools: { pay }, agents });
    const { items } = await gateway.api('/api/agents');
    return {
      ...{
        api: gateway.api,
        request: gateway.request,
        clerk: items.find(({ name }: { name: string }) => name === 'Clerk').id as string,
      },
      paid: () => paid,
      ask: async (message: string): Promise<string> => (await gateway.api('/chat', { agent: 'Clerk', message })).run_id,
      /** Repeats a run until its end. */
      fork: async (runId: string): Promise<void> => {
        const fork = await gateway.api(`/api/runs/${runId}/forks`, { atStep: 1 });
        await waitFor(async () => (await gateway.api(`/api/runs/${fork.runId}`)).status === 'completed');
      },
      evaluation: async (name: string): Promise<string> =>
        `/api/evaluations/${(await gateway.api('/api/evaluations', { name })).id}`,
      remove: async () => {
        await gateway.stop();
        await database.remove();
      },
    };
  });

  test('[E6] a run becomes a case with what was asked, what is expected, and its recorded outcomes', async () => {
    const { api, ask, evaluation, paid } = desk;
    const [first, second] = [await ask('Pay the invoice of Monday.'), await ask('Pay the invoice of Monday.')];
    const path = await evaluation('Clerk');
    expect(await evaluation('Clerk')).toBe(path);
    const stored = await api(`${path}/cases`, { runId: first });
    const asked = 'Pay the invoice of Monday.';
    expect(stored).toMatchObject({ name: asked, input: asked, expected: 'It is paid.', runId: first });
    await api(`${path}/cases`, { runId: second });
    // The same run again: it is one case, with the new expected answer.
    await api(`${path}/cases`, { runId: first, expected: 'It was paid on Monday.' });
    const { items } = await api(`${path}/cases`);
    expect(items.map(({ name, expected }: { name: string; expected: string }) => [name, expected])).toEqual([
      [asked, 'It was paid on Monday.'],
      [`${asked} (2)`, 'It is paid.'],
    ]);
    const before = paid();
    await desk.fork(items[0].runId);
    expect(paid()).toBe(before);
    await api(`${path}/cases/${items[1].id}`, undefined, { method: 'DELETE' });
    expect((await api(path)).cases).toBe(1);
    const unknown = await api(`${path}/cases`, { runId: 'none' });
    expect(unknown.error.code).toBe('not_found');
  });

  test('[E6] [O1] [O5] a case is in the export of the person who asked, and no other project can make one of the run', async () => {
    const { api, evaluation, ask, clerk } = desk;
    const { id: ada } = await api('/api/entities', { kind: 'human', displayName: 'Ada' });
    // A token may talk to agents in the spaces of its person.
    await api('/api/spaces', { name: 'Desk', members: [ada, clerk].map((entityId) => ({ entityId })) });
    const { token } = await api(`/api/entities/${ada}/token`, {});
    const { run_id: runId } = await api('/chat', { agent: 'Clerk', message: 'Pay for Ada.' }, { key: token });
    const path = await evaluation('exported');
    for (const run of [runId, await ask('Pay for Ben.')]) await api(`${path}/cases`, { runId: run });
    const exported = await (await desk.request(`/api/export?entityId=${ada}`)).text();
    const lines = exported
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ type }) => type === 'evaluation_case')).toMatchObject([
      { input: 'Pay for Ada.', expected: 'It is paid.', runId },
    ]);
    await api('/api/projects', { id: 'acme' });
    const { key } = await api('/api/keys', { name: 'k', scopes: ['write'], project: 'acme' });
    const theirs = await api('/api/evaluations', { name: 'exported' }, { key });
    expect(`/api/evaluations/${theirs.id}`).not.toBe(path);
    // Neither with a key of the project, nor with one that sees both.
    for (const given of [{ key }, {}])
      expect((await api(`/api/evaluations/${theirs.id}/cases`, { runId }, given)).error.code).toBe('not_found');
  });

  test('[E8] the last tasks of an agent are the requests to it, without forks', async () => {
    const { api, ask, clerk } = desk;
    const runs = [await ask('Pay one.'), await ask('Pay two.'), await ask('Pay three.')];
    await desk.fork(runs[2] ?? '');
    const { items, next } = await api(`/api/agents/${clerk}/tasks?limit=2`);
    expect(ids(items)).toEqual([runs[2], runs[1]]);
    expect(items[0]).toMatchObject({
      ...{ input: 'Pay three.', response: 'It is paid.', status: 'completed' },
      calls: [{ toolName: 'pay', status: 'ok' }],
    });
    const more = await api(`/api/agents/${clerk}/tasks?limit=2&cursor=${next}`);
    expect(ids(more.items)[0]).toBe(runs[0]);
  });

  test('[E6] [E8] [G63] the task of a run in a space is what the person wrote, without the frame that delimits events', async () => {
    const { api, evaluation, clerk } = desk;
    const { id: ada } = await api('/api/entities', { kind: 'human', displayName: 'Ada' });
    const { id: space } = await api('/api/spaces', {
      name: 'Bills',
      members: [ada, clerk].map((entityId) => ({ entityId })),
    });
    const asked = 'Pay the bill of the baker, please. '.repeat(10).trim();
    await api(`/api/spaces/${space}/messages`, { entityId: ada, text: asked });
    const [task] = await waitFor(async () => {
      const { items } = await api(`/api/agents/${clerk}/tasks?limit=1`);
      return items[0]?.input.includes('baker') && items;
    });
    expect(task.input).toBe(asked);
    const stored = await api(`${await evaluation('Bills')}/cases`, { runId: task.runId, expected: 'Paid.' });
    expect(stored).toMatchObject({ input: asked, name: expect.stringMatching(/^Pay the bill of the baker/) });
  });

  test('[E7] [E9] results of versions are a matrix with the worst cases first, and say if a difference may be chance', async () => {
    const { api, ask, evaluation } = desk;
    const path = await evaluation('matrix');
    const run = await ask('Pay the invoices.');
    const sample = (at: number, value: number, more: object = {}) => ({
      ...{ case: `case ${at}`, sample: 1, scores: { answer: { value, reason: `${value}.` } }, ms: 10.4, tokens: 7 },
      ...{ response: `Answer ${at}.`, runId: run, ...more },
    });
    const first = Array.from({ length: 8 }, (_, at) => sample(at, at < 2 ? 0 : 1));
    expect(await api(`${path}/reports`, { version: 'v1', samples: first })).toMatchObject({
      ...{ version: 'v1', samples: 8, failed: 0, tokens: 56 },
      scores: { answer: { mean: 0.75, n: 8 } },
    });
    // In two pieces, with the second one sent twice, as after a lost response.
    const id = 'second-version';
    const failed = { case: 'case 7', sample: 1, scores: {}, error: 'The model is down.', ms: 3, cost: 0.5 };
    await api(`${path}/reports`, { id, version: 'v2', samples: [sample(0, 1), sample(1, 1)] });
    const piece = { id, version: 'v2', from: 2, samples: [sample(2, 0.5), failed, sample(9, 1)] };
    await api(`${path}/reports`, piece);
    await api(`${path}/reports`, piece);

    for (const odd of [{ runId: 'a\u0000b' }, { tokens: Number.MAX_SAFE_INTEGER }, { scores: { a: { value: 1e300 } } }])
      expect((await api(`${path}/reports`, { version: 'v3', samples: [sample(1, 1, odd)] })).error.code).toBe(
        'invalid_request',
      );

    const { versions, reports } = await api(path);
    expect(reports).toBe(2);
    expect(versions).toMatchObject([
      { version: 'v2', samples: 5, failed: 1, cost: 0.5, scores: { answer: { mean: 0.7, n: 5 } } },
      { version: 'v1', scores: { answer: { low: expect.closeTo(0.41, 2), high: expect.closeTo(0.93, 2) } } },
    ]);
    // Four cases are in both: two got better, one worse, one failed.
    expect(versions[0].change.answer).toMatchObject({ n: 4, verdict: 'may be chance', mean: 0.125 });
    expect(versions[1].change).toBeUndefined();

    const { items, next } = await api(`${path}/results?limit=6`);
    expect(items.map((row: { case: string }) => row.case)).toEqual([
      ...['case 7', 'case 2', 'case 0', 'case 1', 'case 9', 'case 3'],
    ]);
    expect(items[0].cells).toMatchObject([
      { reportId: id, value: 0, samples: [{ error: 'The model is down.', scores: {} }] },
      { value: 1, samples: [{ runId: run, ms: 10, response: 'Answer 7.', scores: { answer: { reason: '1.' } } }] },
    ]);
    expect(ids(items[1].cells.flatMap((cell: { samples: [] }) => cell.samples))).toEqual([run, run]);
    expect((await api(`${path}/results?limit=6&cursor=${next}`)).items).toHaveLength(3);

    expect((await api('/api/evaluations?name=matrix')).items).toMatchObject([
      { reports: 2, newest: { version: 'v2' } },
    ]);
    // For a run that was deleted before the report arrived, only the scores are kept. For another project, the run does not exist.
    const gone = await api(`${path}/reports`, { version: 'v3', samples: [sample(1, 0, { runId: 'deleted' })] });
    const [{ cells }] = (await api(`${path}/results`)).items;
    expect(cells[0].samples).toEqual([{ sample: 1, scores: { answer: { value: 0 } }, ms: 10, tokens: 7 }]);
    await api(`${path}/reports/${gone.id}`, undefined, { method: 'DELETE' });
    const elsewhere = await api(`${await evaluation('other')}/reports`, { id, version: 'v1', samples: [sample(1, 1)] });
    expect(elsewhere.error.code).toBe('id_taken');
    await api(`${path}/reports/${id}`, undefined, { method: 'DELETE' });
    expect((await api(path)).reports).toBe(1);
    await api(path, undefined, { method: 'DELETE' });
    expect((await api(path)).error.code).toBe('not_found');
    expect((await api(`${path}/results`)).error.code).toBe('not_found');
  });

  test('[E6] [O2] the name of a case, which has the text of the request, is deleted with its run, and its results stay comparable', async () => {
    const { api, evaluation } = desk;
    const path = await evaluation('gone');
    const asked = 'What is the number of the card of Mrs Planted?';
    const { run_id: runId, context_id } = await api('/chat', { agent: 'Clerk', message: asked });
    const other = await api('/chat', { agent: 'Clerk', message: 'Pay the other one.' });
    const kept = await api(`${path}/cases`, { runId: other.run_id });
    const stored = await api(`${path}/cases`, { runId });
    expect(stored.name).toBe(asked);
    const again = await api(`/api/runs/${runId}/forks`, { atStep: 1 });
    await waitFor(async () => (await api(`/api/runs/${again.runId}`)).status === 'completed');
    const sample = { sample: 1, scores: { answer: { value: 1 } }, ms: 1 };
    // One version has the run that repeated the case, the other does not. A task that is not a case has its own name.
    const told = { ...sample, case: stored.name };
    const own = { ...sample, case: kept.name };
    await api(`${path}/reports`, { version: 'v1', samples: [{ ...told, runId: again.runId }, own] });
    await api(`${path}/reports`, { version: 'v2', samples: [told, own] });
    const tasks = await evaluation('tasks');
    const named = { ...sample, case: 'The card of Mrs Planted', runId: again.runId };
    await api(`${tasks}/reports`, { version: 'v1', samples: [named] });
    await api(`/contexts/${context_id}`, undefined, { method: 'DELETE' });
    const { items } = await api(`${path}/results`);
    expect(items.map((row: { case: string; cells: unknown[] }) => [row.case, row.cells.length])).toEqual([
      [kept.name, 2],
      [`deleted case ${runId.slice(-8)}`, 2],
    ]);
    expect((await api(`${tasks}/results`)).items).toMatchObject([{ case: `deleted case ${runId.slice(-8)}` }]);
    expect(JSON.stringify([items, await api(`${path}/cases`)])).not.toContain('Planted');
  });

  test('[E7] a page of results has a limited size, however much was stored, and so has a sample', async () => {
    const { api, evaluation } = desk;
    const path = await evaluation('long');
    const response = 'a'.repeat(3_990);
    const sample = { sample: 1, scores: { answer: { value: 1, reason: 'b'.repeat(9_000) } }, ms: 1 };
    const report = { id: 'a-long-report', version: 'v1' };
    // Twelve cases with more text than fits into a page, one of them with more samples than are shown.
    for (let at = 0; at < 12; at++) {
      const samples = Array.from({ length: at === 0 ? 105 : 80 }, () => ({
        ...sample,
        case: `case ${at + 10}`,
        response,
      }));
      const step = await api(`${path}/reports`, { ...report, from: at * 105, samples: samples.slice(0, 60) });
      expect(step.error).toBeUndefined();
      await api(`${path}/reports`, { ...report, from: at * 105 + 60, samples: samples.slice(60) });
    }
    const first = await api(`${path}/results`);
    expect(JSON.stringify(first).length).toBeLessThan(4_500_000);
    expect(first.items[0].cells[0].samples).toHaveLength(100);
    expect(first.items[0].cells[0].samples[0].scores.answer.reason).toHaveLength(1_002);
    const second = await api(`${path}/results?cursor=${first.next}`);
    expect(second.next).toBeUndefined();
    expect([...first.items, ...second.items].map((row: { case: string }) => row.case)).toEqual(
      Array.from({ length: 12 }, (_, at) => `case ${at + 10}`),
    );
    // Every score is estimated from all samples.
    const names = Array.from({ length: 21 }, (_, at) => [`score ${at}`, { value: 1 }]);
    const many = [{ ...sample, case: 'one', scores: Object.fromEntries(names) }];
    expect((await api(`${path}/reports`, { version: 'v2', samples: many })).error).toMatchObject({
      code: 'too_large',
      message: 'A report has at most 20 different scores, not 21.',
    });
    expect((await api(path)).reports).toBe(1);
  });
});
