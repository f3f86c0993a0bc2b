import { rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, waitFor } from '@lastcall/gateway/testing';
import { expect, test } from 'vitest';
import { scratchFolder } from '../support/scratch-folder.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

test.each([
  ['truncated', (path: string) => truncate(path, 20), 'Its file is damaged.'],
  ['missing', (path: string) => rm(path), 'It was deleted.'],
])(
  '[O10] a file that is %s is answered with 404 and what to do, and a model gets a note instead of its bytes',
  async (_how, damage, note) => {
    const home = await scratchFolder('damaged-files');
    const model = scriptedModel(() => 'Seen.');
    await using gateway = await startTestGateway({
      home,
      model,
      modelFiles: { 'test-model': ['image'] },
      agents: [{ name: 'Clerk', instructions: 'Look.', replies: 'text' }],
      spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
    });
    const [[space], [ada]] = [
      (await gateway.api('/api/spaces')).items,
      (await gateway.api('/api/entities?externalId=ada')).items,
    ];
    const headers = { authorization: `Bearer ${gateway.secretKey}` };
    const path = `${gateway.url}/api/artifacts?entityId=${ada.id}&name=a.png`;
    const sent = await fetch(path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'image/png' },
      body: PIXEL,
    });
    const { id } = (await sent.json()) as { id: string };
    await damage(join(home, 'artifacts', id));
    const answer = await fetch(`${gateway.url}/api/artifacts/${id}`, { headers });
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      {
        error: {
          code: 'not_found',
          message: expect.stringMatching(/is missing or damaged\. Restore it from a backup/),
        },
      },
    ]);
    await gateway.api(`/api/spaces/${space.id}/messages`, { entityId: ada.id, text: 'Look.', attachments: [id] });
    await waitFor(async () => (await gateway.api('/api/runs?status=completed')).items.length === 1);
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain(`[a.png: ${note}]`);
  },
);
