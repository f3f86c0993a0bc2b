import { expect, test } from 'vitest';
import { startCountingServer } from '../../client/test/support/counting-server.ts';
import { Api } from '../src/api.ts';
import { runTask, type TaskEnd } from '../src/run-task.ts';

const giveTask = (url: string): Promise<TaskEnd> =>
  runTask(new Api({ url, env: {} }), {
    agent: 'Analyst',
    message: 'Report',
    until: [],
    signal: new AbortController().signal,
    onEvent: () => {},
  });

test.each([
  { status: 429, code: 'inbox_full', message: 'The inbox of the agent is full.' },
  { status: 500, code: 'internal', message: 'This is a bug in the gateway.' },
])('[S12] run reports a task that the gateway refuses with $status after three attempts', async (refusal) => {
  const { status, code, message } = refusal;
  await using server = await startCountingServer();
  server.treat({ status: 200, body: { status: 'ok' } }, { status, body: { error: { code, message } } });
  await expect(giveTask(server.url)).rejects.toMatchObject({ message, status });
  const sent = server.seen.filter(({ path }) => path === '/chat');
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('[S12] run retries sending a task with the same key while the connection is cut before the gateway answers', async () => {
  await using server = await startCountingServer();
  const done = { response: 'Hello.', stop: { reason: 'end_turn' }, run_id: 'r1' };
  const headers = { 'content-type': 'text/event-stream' };
  const stream = { status: 200, headers, text: `event: done\ndata: ${JSON.stringify(done)}\n\n` };
  server.treat({ status: 200, body: { status: 'ok' } }, 'cut', 'cut', 'cut', 'cut', stream);
  expect(await giveTask(server.url)).toMatchObject({ response: 'Hello.', runId: 'r1' });
  const sent = server.seen.filter(({ path }) => path === '/chat');
  expect(sent).toHaveLength(5);
  expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});
