import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { startTestGateway, waitFor } from '../../src/testing/index.ts';
import { Shell } from '../by-curl/shell.ts';

const page = join(import.meta.dirname, '../../../../docs/tools/external.md');

test('the commands of docs/tools/external.md work as a worker', { timeout: 60_000 }, async () => {
  const [, commands = ''] = /^```sh\n(.*?)^```$/ms.exec(await readFile(page, 'utf8')) ?? [];
  const [, secretKey = ''] = /Bearer (\w+)/.exec(commands) ?? [];
  const model = scriptedModel([{ toolName: 'render_video', input: { scene: 'dawn' } }, 'Waiting.', 'Ready.']);
  await using gateway = await startTestGateway({
    model,
    secretKey,
    agents: [{ name: 'Director', instructions: 'You make videos.', tools: ['render_video'] }],
    tools: {
      render_video: {
        executionType: 'external',
        visible: false,
        inputSchema: { type: 'object', properties: { scene: { type: 'string' } } },
      },
    },
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
  await using shell = new Shell(gateway.home);
  const here = commands.replace('http://127.0.0.1:4100', gateway.url);
  expect(here).not.toBe(commands);
  expect(await shell.run(here)).toContain('"duplicate":false');
  await waitFor(() => model.requests.length === 3);
  const [call] = (await gateway.api('/api/pending?status=resolved')).items;
  expect(call).toMatchObject({
    answer: { result: { url: 'https://videos.example.com/1.mp4' } },
    job: { worker: 'shell' },
  });
});
