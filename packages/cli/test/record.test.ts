import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from '@lastcall/core';
import { replayModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { linkPackages, makeFolder } from './support/folder.ts';
import { lastcall } from './support/program.ts';

const CONFIG = `import { tool } from '@lastcall/core';
import { streamResult } from '@lastcall/core/internal';
import { z } from 'zod';

const usage = { inputTokens: { total: 3 }, outputTokens: { total: 2 } };
const reply = (content, unified) => ({ content: [content], finishReason: { unified, raw: undefined }, usage, warnings: [] });
function generate({ prompt }) {
  return JSON.stringify(prompt).includes('was sent')
    ? reply({ type: 'text', text: 'It was sent. The password is correct-horse-battery.' }, 'stop')
    : reply({ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{"order":"A-17"}' }, 'tool-calls');
}
export default {
  models: { desk: {
    ...{ specificationVersion: 'v4', provider: 'test', modelId: 'desk', supportedUrls: {} },
    doGenerate: async (request) => generate(request),
    doStream: async (request) => ({ stream: streamResult(generate(request), request.abortSignal) }),
  } },
  model: 'desk',
  secrets: ['SHOP_PASSWORD'],
  agents: [{ name: 'Desk', instructions: 'You help.', tools: ['look'] }],
  tools: { look: tool({ description: 'Looks up an order.', inputSchema: z.object({ order: z.string() }), effects: 'none', execute: ({ order }) => order + ' was sent' }) },
};
`;

const look = tool({
  description: 'Looks up an order.',
  inputSchema: z.object({ order: z.string() }),
  effects: 'none',
  execute: ({ order }) => `${order} was sent`,
});

test('[E4] lastcall record writes a cassette of an agent, without secrets, that a gateway of a test plays back', async () => {
  await using folder = await makeFolder({ 'lastcall.config.js': CONFIG, 'package.json': '{"type":"module"}' });
  await linkPackages(folder.path);
  const env = { SHOP_PASSWORD: 'correct-horse-battery' };
  const args = ['record', 'Desk', 'Where is order A-17?', '--out', 'cassettes/desk.json'];
  const { code, out, err } = await lastcall(args, { folder: folder.path, env });
  expect([code, out, err]).toEqual([
    0,
    expect.stringContaining('It was sent.'),
    expect.stringMatching(/Recorded: .*desk\.json/),
  ]);
  const path = join(folder.path, 'cassettes/desk.json');
  expect(await readFile(path, 'utf8')).not.toContain('correct-horse');
  await using gateway = await startTestGateway({
    model: replayModel(path),
    agents: [{ name: 'Desk', instructions: 'You help.', tools: ['look'] }],
    tools: { look },
  });
  const answer = await gateway.api('/chat', { agent: 'Desk', message: 'Where is order A-17?' });
  expect(answer.response).toBe('It was sent. The password is [secret].');
  const other = await gateway.api('/chat', { agent: 'Desk', message: 'Where is order A-18?' });
  expect(JSON.stringify(other)).toContain('does not have this request');
});

test('[E4] record writes the cassette with the given name, whichever model of the configuration the agent asks', async () => {
  const config = `import { scriptedModel } from '@lastcall/core/testing';
const model = (text) => scriptedModel(() => text);
export default {
  models: { first: model('First.'), second: model('Second') },
  model: 'first',
  agents: [{ name: 'One', instructions: 'x' }, { name: 'Two', instructions: 'x', model: 'second' }],
};
`;
  await using folder = await makeFolder({ 'lastcall.config.mjs': config });
  await linkPackages(folder.path);
  for (const [agent, response] of [
    ['One', 'First.'],
    ['Two', 'Second'],
  ] as const) {
    const out = join('cassettes', `${agent}.json`);
    const recorded = await lastcall(['record', agent, 'Who are you?', '--out', out, '--json'], { folder: folder.path });
    expect(JSON.parse(recorded.out)).toMatchObject({ response, cassettes: [expect.stringContaining(out)] });
    expect(await readFile(join(folder.path, out), 'utf8')).toContain(response);
  }
  expect(await readdir(join(folder.path, 'cassettes'))).toEqual(['One.json', 'Two.json']);
});

test('record says if the configuration file is missing', async () => {
  await using folder = await makeFolder();
  const { code, err } = await lastcall(['record', 'Desk', 'Hello'], { folder: folder.path });
  expect([code, err]).toEqual([2, 'There is no lastcall.config.ts in this folder.\n']);
});

test('[E4] the exit code of record says why the run stopped, and what the model replied is recorded', async () => {
  const config = `import { scriptedModel } from '@lastcall/core/testing';
const finishReason = { unified: 'content-filter', raw: undefined };
export default {
  models: { filtered: scriptedModel(() => ({ text: 'I', finishReason })) },
  model: 'filtered',
  agents: [{ name: 'One', instructions: 'x' }],
};
`;
  await using folder = await makeFolder({ 'lastcall.config.mjs': config });
  await linkPackages(folder.path);
  const { code, err } = await lastcall(['record', 'One', 'Who are you?'], { folder: folder.path });
  expect([code, err]).toEqual([13, expect.stringMatching(/Recorded: .*cassette\.json/)]);
});
