import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/domain/api-error.ts';
import { newTag } from '../../src/domain/frame-tag.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

describe('logs', () => {
  function logged(level: 'debug' | 'warn' = 'debug') {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    return { logger: createLogger({ level, destination }), lines, read: () => lines.map((line) => JSON.parse(line)) };
  }

  test('logs are one JSON object a line, with a time, from a level on', () => {
    const { logger, read } = logged('warn');
    logger.info('not this');
    logger.warn('this', { runId: 'r1' });
    expect(read()).toMatchObject([{ level: 40, msg: 'this', details: { runId: 'r1' } }]);
    expect(Date.parse(read()[0].time)).toBeGreaterThan(0);
  });

  test('logs have no secret, wherever it is', () => {
    const { logger, lines } = logged();
    const key = 'lc_sk_0123456789abcdef';
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
    logger.error('failed', {
      headers: { authorization: `Bearer ${key}`, Cookie: 'session=1', accept: '*/*' },
      url: `http://x/api/spaces/1/stream?token=${token}`,
      nested: [{ password: 'hunter2', text: `the key is ${key}.` }],
      error: new Error(`refused: Bearer ${token}`),
    });
    expect(lines.join('')).not.toMatch(/lc_sk_0|eyJ|hunter2|session=1/);
    expect(lines.join('')).toContain('*/*');
  });

  test.each([
    ['of today', newTag()],
    ['of an earlier version', '9enty7mss2g'],
    ['of the first versions', 'b003c4e5f60718293a4b5c6d'],
  ])('[G63] logs have no frame tag %s, in a message, a detail or an error', (_when, tag) => {
    const { logger, lines } = logged();
    const prompt = `<inbox-${tag} run="1">\n</inbox-${tag}> <situation-${tag}>`;
    logger.warn(`bad ${prompt}`, { deep: [prompt], error: new Error(prompt, { cause: new Error(prompt) }) });
    expect(lines.join('')).toContain('<inbox-hidden run=');
    expect(lines.join('')).not.toContain(tag);
  });

  test('logs accept any value', () => {
    const { logger, read } = logged();
    const circle: Record<string, unknown> = { big: 10n, run: () => 1 };
    circle.self = circle;
    logger.warn('odd', circle);
    logger.warn('text', 'alone');
    logger.warn('error', new ApiError('id_taken', 'It is taken.', { cause: new Error('inner') }));
    expect(read()).toMatchObject([
      { details: { big: '10', run: '[function]' } },
      { details: 'alone' },
      { details: { name: 'ApiError', code: 'id_taken', message: 'It is taken.', cause: { message: 'inner' } } },
    ]);
  });
});

describe('metrics', () => {
  test('metrics count what happened, each gateway for itself', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.httpRequest({ method: 'GET', route: '/api/agents', status: 200, seconds: 0.01 });
    one.run({ status: 'completed', seconds: 2 });
    one.call({ tool: 'send_message', outcome: 'ok', seconds: 0.1 });
    one.tokens({ model: 'm', cached: 0, isEstimated: false, input: 10, output: 3 });
    one.inboxLag(0.2);
    one.streamOpened();
    one.gauge('lastcall_runs_running', 'Runs under way.', () => 7);
    const text = await one.render();
    for (const line of [
      'lastcall_http_request_seconds_count{method="GET",route="/api/agents",status="200"} 1',
      'lastcall_run_seconds_count{status="completed"} 1',
      'lastcall_call_seconds_count{tool="send_message",outcome="ok"} 1',
      'lastcall_tokens_total{model="m",direction="input"} 10',
      'lastcall_tokens_total{model="m",direction="output"} 3',
      'lastcall_inbox_lag_seconds_count 1',
      'lastcall_open_streams 1',
      'lastcall_runs_running 7',
    ])
      expect(text).toContain(line);
    expect(await other.render()).toContain('lastcall_open_streams 0');
    expect(await other.render()).not.toContain('send_message');
  });
});
