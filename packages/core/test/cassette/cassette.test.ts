import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runTurn, tool } from '../../src/index.ts';
import { CassetteError, recordModel, replayModel, scriptedModel } from '../../src/testing/index.ts';
import { cassettePath } from './cassette-path.ts';

const ask = (text: string, more: Partial<LanguageModelV4CallOptions> = {}): LanguageModelV4CallOptions => ({
  prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
  ...more,
});
const said = async (model: LanguageModelV4, request: LanguageModelV4CallOptions): Promise<string> =>
  (await model.doGenerate(request)).content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const echo = () => scriptedModel(({ prompt }) => `You said: ${JSON.stringify(prompt.at(-1)?.content).slice(0, 200)}`);

const look = tool({
  description: 'Looks up an order.',
  inputSchema: z.object({ order: z.string() }),
  effects: 'none',
  execute: ({ order }) => `Order ${order} was sent.`,
});

test('[E4] a cassette of 50 runs plays back with the same settlements, in another order and all at once', async () => {
  const path = await cassettePath();
  const model = () =>
    scriptedModel(({ prompt }) => {
      const [order] = /order \d+/.exec(JSON.stringify(prompt)) ?? [''];
      const isAnswered = prompt.some(({ role }) => role === 'tool');
      return isAnswered ? `Done with ${order}.` : { toolName: 'look', input: { order } };
    });
  const run = async (by: LanguageModelV4, number: number) => {
    const { settlements, response } = await runTurn({ model: by, tools: { look }, prompt: `Find order ${number}.` });
    return { response, outcomes: settlements.map(({ outcome, input }) => ({ outcome, input })) };
  };
  const numbers = Array.from({ length: 50 }, (_, at) => at + 1);
  const recorder = recordModel(model(), path);
  const recorded = await Promise.all(numbers.map((number) => run(recorder, number)));
  const player = replayModel(path);
  const played = await Promise.all(numbers.toReversed().map((number) => run(player, number)));
  expect(played.toReversed()).toEqual(recorded);
  expect(recorded[49]?.response).toBe('Done with order 50.');
});

test('[E4] a request that was not recorded fails, and shows what differs from the nearest one', async () => {
  const path = await cassettePath();
  const recorder = recordModel(echo(), path);
  await said(recorder, ask('Weather in Rome?\nBe brief.'));
  await said(recorder, ask('Something else'));
  const asked = said(replayModel(path), ask('Weather in Oslo?\nBe brief.', { temperature: 0.5 }));
  await expect(asked).rejects.toThrow('does not have this request. The nearest is interaction 1');
  await expect(asked).rejects.toThrow('- message 1.content.0.text: Weather in Rome?');
  await expect(asked).rejects.toThrow('+ message 1.content.0.text: Weather in Oslo?');
  await expect(asked).rejects.toThrow('+ temperature 0.5');
  await expect(asked).rejects.not.toThrow('- message 1.content.0.text: Be brief.');
});

test('[E4] the same request gets its replies in the order of the recording, and no reply twice', async () => {
  const path = await cassettePath();
  const recorder = recordModel(scriptedModel(['One.', 'Two.']), path);
  await said(recorder, ask('Next?'));
  await said(recorder, ask('Next?'));
  const player = replayModel(path);
  expect([await said(player, ask('Next?')), await said(player, ask('Next?'))]).toEqual(['One.', 'Two.']);
  await expect(said(player, ask('Next?'))).rejects.toThrow('has this request 2 times, and it was asked once more');
});

test('[E4] ids and times may differ: a reply that repeats an id of its request has that of the new request', async () => {
  const path = await cassettePath();
  const [first, second, other] = [randomUUID(), randomUUID(), randomUUID()];
  const model = scriptedModel(({ prompt }) => {
    const [id] = /[0-9a-f-]{36}/.exec(JSON.stringify(prompt)) ?? [''];
    return { toolName: 'cancel', input: { order: id, reason: other } };
  });
  await recordModel(model, path).doGenerate(ask(`At 2026-01-01T10:00:00.000Z: cancel ${first}.`));
  const { content } = await replayModel(path).doGenerate(ask(`At 2026-02-03 11:12: cancel ${second}.`));
  expect(content).toMatchObject([{ input: JSON.stringify({ order: second, reason: other }) }]);
  // Two different ids do not match one id that occurs twice.
  const twice = replayModel(path).doGenerate(ask(`At 2026-02-03 11:12: cancel ${second} and ${other}.`));
  await expect(twice).rejects.toThrow('does not have this request');
});

test('other parts that differ in each run can be named', async () => {
  const path = await cassettePath();
  const volatile = [/ticket-\d+/];
  await said(recordModel(echo(), path, { volatile }), ask('Close ticket-17.'));
  expect(await said(replayModel(path, { volatile }), ask('Close ticket-4711.'))).toContain('Close ticket-4711.');
  await expect(said(replayModel(path), ask('Close ticket-4711.'))).rejects.toThrow('does not have this request');
});

test('[E4] the file has no secret of the request, of its headers or of the reply', async () => {
  const path = await cassettePath();
  const planted = {
    given: 'correct horse "battery" staple',
    key: 'sk-proj-abcdefghijklmnop0123456789',
    bearer: 'Bearer abcdef.ghijkl.mnopqr.stuvwx',
    jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIzNDU',
    github: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    amazon: 'AKIAIOSFODNN7EXAMPLE',
    pem: '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----',
  };
  const texts = Object.values(planted);
  const model = scriptedModel(() => ({ text: texts.join(' '), calls: [{ toolName: 'log_in', input: planted }] }));
  const request = ask(texts.join(' '), {
    headers: { authorization: planted.given, 'x-api-key': 'header-secret' },
    providerOptions: { own: { apiKey: planted.key } },
    tools: [{ type: 'function', name: 'log_in', description: planted.given, inputSchema: { type: 'object' } }],
  });
  const recorder = recordModel(model, path, { secrets: [planted.given] });
  await recorder.doGenerate(request);
  const { stream } = await recorder.doStream(request);
  for await (const _part of stream);
  const file = await readFile(path, 'utf8');
  // Neither does it have a secret that was split over the parts of a stream.
  const deltas = [...file.matchAll(/"delta":"((?:[^"\\\\]|\\\\.)*)"/g)].map(([, delta]) => delta).join('');
  expect(deltas).not.toContain('battery');
  expect(deltas).not.toContain(planted.github);
  expect(deltas).toContain('[secret]');
  for (const secret of ['header-secret', 'battery', 'abcdef.ghijkl', ...texts.map((text) => text.slice(-18))])
    expect(file).not.toContain(secret);
  expect(file).toContain('[secret]');
  // It still plays back on a machine with another password.
  const other = JSON.parse(JSON.stringify(request).replaceAll('correct horse', 'another donkey'));
  const player = replayModel(path, { secrets: ['another donkey "battery" staple'] });
  expect((await player.doGenerate(other)).content).toHaveLength(2);
});

test('[E4] the file has no secret that is in JSON inside of JSON, and such a request plays back', async () => {
  const path = await cassettePath();
  const secret = 'correct "horse"\\battery';
  const service = JSON.stringify({ password: secret });
  const nested = JSON.stringify({ body: service, all: JSON.stringify({ body: service }) });
  const options = { secrets: [secret] };
  await recordModel(scriptedModel([nested]), path, options).doGenerate(ask(nested));
  expect(await readFile(path, 'utf8')).not.toMatch(/horse|battery/);
  expect((await replayModel(path, options).doGenerate(ask(nested))).content).toHaveLength(1);
});

test('the file is JSON in which each message, tool and part is a line, and shared beginnings are stored once', async () => {
  const path = await cassettePath();
  const model = scriptedModel([{ toolName: 'look', input: { order: '7' } }, 'Sent.']);
  await runTurn({
    model: recordModel(model, path),
    tools: { look },
    instructions: 'Help.',
    prompt: 'Where is order 7?',
  });
  const text = await readFile(path, 'utf8');
  const { cassette, model: by, tools, interactions } = JSON.parse(text);
  expect([cassette, by, Object.keys(tools)]).toEqual([
    1,
    { provider: 'lastcall.scripted', modelId: 'scripted' },
    ['t1'],
  ]);
  expect(interactions[1].request).toMatchObject({ from: [1, 2], tools: 't1' });
  expect(interactions[1].request.messages.map(({ role }: { role: string }) => role)).toEqual(['assistant', 'tool']);
  expect(text.split('\n').filter((line) => line.includes('Where is order 7?'))).toHaveLength(1);
});

test('bytes of files are compared by a checksum', async () => {
  const path = await cassettePath();
  const picture = (byte: number): LanguageModelV4CallOptions => ({
    prompt: [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(5_000).fill(byte) } },
        ],
      },
    ],
  });
  await said(recordModel(scriptedModel(['A dot.']), path), picture(1));
  expect((await readFile(path, 'utf8')).length).toBeLessThan(2_000);
  await expect(said(replayModel(path), picture(2))).rejects.toThrow('does not have this request');
  expect(await said(replayModel(path), picture(1))).toBe('A dot.');
});

test('a reply that was recorded whole can be streamed, and vice versa', async () => {
  const path = await cassettePath();
  const model = scriptedModel(() => ({ text: 'Sunny.', calls: [{ toolName: 'look', toolCallId: 'c', input: {} }] }));
  const recorder = recordModel(model, path);
  const whole = await recorder.doGenerate(ask('whole'));
  for await (const _part of (await recorder.doStream(ask('streamed'))).stream);
  const player = replayModel(path);
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of (await player.doStream(ask('whole'))).stream) parts.push(part);
  expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : [])).join('')).toBe('Sunny.');
  expect(await player.doGenerate(ask('streamed'))).toEqual(whole);
});

test('[E4] a streamed reply that is played back as a whole has all of its text and metadata, as in a streamed turn', async () => {
  const path = await cassettePath();
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
  const replies: LanguageModelV4StreamPart[][] = [
    [
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { kept: true } } },
      { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: 'abc' } } },
      { type: 'reasoning-end', id: '0' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
    ],
    [
      { type: 'text-delta', id: '0', delta: 'A dot.' },
      { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
    ],
  ];
  const doStream = async () => ({ stream: ReadableStream.from(replies.shift() ?? []) });
  const see = tool({
    description: 'Looks.',
    inputSchema: { type: 'object' },
    effects: 'none',
    execute: () => 'A dot.',
  });
  const model = recordModel({ ...scriptedModel([]), doStream }, path);
  await runTurn({ model, prompt: 'Look.', tools: { look: see }, onEvent: () => {} });
  const { response } = await runTurn({ model: replayModel(path), prompt: 'Look.', tools: { look: see } });
  expect(response).toBe('A dot.');
});

test('a request that the caller aborted is not recorded', async () => {
  const path = await cassettePath();
  const leaving = new AbortController();
  const model = scriptedModel(() => {
    leaving.abort();
    throw leaving.signal.reason;
  });
  await expect(recordModel(model, path).doGenerate(ask('Wait.', { abortSignal: leaving.signal }))).rejects.toThrow();
  await expect(access(path)).rejects.toThrow();
});

test('the error for a file that is missing, is not a cassette or has another version says what to do', async () => {
  const path = await cassettePath();
  expect(() => replayModel(path)).toThrow('There is no cassette at');
  await recordModel(scriptedModel(['Yes.']), path).doGenerate(ask('Ready?'));
  await writeFile(path, '<html>');
  expect(() => replayModel(path)).toThrow('is not JSON. Record it again.');
  for (const damaged of [null, { result: {} }, { request: {}, result: {} }, { request: { messages: [] } }]) {
    const readable = { request: { messages: [] }, result: {} };
    await writeFile(path, JSON.stringify({ cassette: 1, tools: null, interactions: [readable, damaged] }));
    expect(() => replayModel(path)).toThrow('is damaged: interaction 2 has no request or no reply. Record it again.');
  }
  await writeFile(path, '{"cassette":1,"interactions":null}');
  expect(() => replayModel(path)).toThrow('is damaged: it has no list of interactions. Record it again.');
  for (const other of ['{"name":"shop"}', 'null', '[]']) {
    await writeFile(path, other);
    expect(() => replayModel(path)).toThrow('is not a cassette. Name one, or record it again.');
  }
  await writeFile(path, '{"cassette":2}');
  expect(() => replayModel(path)).toThrow('is not a cassette of version 1, but of version 2. Record it again.');
});

test('a path that is a folder is refused before the model is asked, in a recording and in a replay', async () => {
  const folder = dirname(await cassettePath());
  await mkdir(folder);
  const expected = `${folder} is a folder. Name a file, e.g. '${join(folder, 'cassette.json')}'.`;
  expect(() => recordModel(echo(), folder)).toThrow(new CassetteError(expected));
  expect(() => replayModel(folder)).toThrow(new CassetteError(expected));
});

test('[E4] a process that is killed while it records leaves a cassette that plays', async () => {
  const path = await cassettePath();
  const program = `
    import { recordModel, scriptedModel } from '@lastcall/core/testing';
    const model = recordModel(scriptedModel(() => 'Yes. '.repeat(20_000)), ${JSON.stringify(path)});
    for (let number = 1; ; number++) {
      await model.doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Number ' + number }] }] });
      if (number === 3) console.log('three');
    }`;
  const child = spawn(process.execPath, ['--conditions=@lastcall/source', '--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await said(replayModel(path), ask('Number 3'))).toMatch(/^Yes\. /);
});
