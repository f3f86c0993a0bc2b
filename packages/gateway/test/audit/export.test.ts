import { describe, expect, test } from 'vitest';
import { insertUpload } from '../../src/domain/artifacts/upload.ts';
import { openApi, toRequest } from '../http/api.ts';
import { openJob } from '../jobs/job-desk.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

type Line = Readonly<Record<string, unknown>>;

describe.each(databases)('the export of a person on $kind', ({ create }) => {
  const database = forEachTest(create);
  const api = forEachTest(() => openApi(database));

  const exported = async (entityId: string, secret = api.key): Promise<readonly Line[]> => {
    const answer = await api.app.fetch(toRequest('GET', `/api/export?entityId=${entityId}`, { secret }));
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    return (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const ofType = (lines: readonly Line[], type: string) => lines.filter((line) => line.type === type);

  test('[O5] has the spaces, messages, conversations, answers and tokens of only this person', async () => {
    const [ada, ben, agent] = [await api.person('Ada'), await api.person('Ben'), await api.agent()];
    const space = await api.space(ada, ben, agent);
    const say = (entityId: string, text: string) =>
      api.done('POST', `/api/spaces/${space}/messages`, { entityId, text });
    await say(ada, 'By Ada.');
    await say(ben, 'By Ben.');
    const { id: conversation } = await api.done<{ id: string }>('POST', '/contexts', { agent, entity_id: ada });
    await api.done('POST', '/contexts', { agent, entity_id: ben });
    const { runId, callId } = await openJob(api, agent, { spaceId: space });
    const { token: secret } = await api.done<{ token: string }>('POST', `/api/entities/${ada}/token`, {});
    await api.call('POST', `/api/runs/${runId}/tool-results`, { body: { callId, result: 'Yes.' }, secret });
    const lines = await exported(ada);
    expect(lines[0]).toMatchObject({ type: 'entity', id: ada, displayName: 'Ada' });
    expect(ofType(lines, 'space')).toMatchObject([{ id: space, name: 'Lobby' }]);
    expect(ofType(lines, 'message')).toMatchObject([{ entityId: ada }]);
    expect(JSON.stringify(lines)).toContain('By Ada.');
    expect(ofType(lines, 'conversation')).toMatchObject([{ id: conversation, agentId: agent }]);
    expect(ofType(lines, 'answer')).toMatchObject([{ callId, answer: { result: 'Yes.' } }]);
    expect(ofType(lines, 'token')).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/By Ben|ey[\w-]+\.ey/);
  });

  test('[O5] has the files that the person uploaded, also those in no message', async () => {
    const [ada, ben] = [await api.person('Ada'), await api.person('Ben')];
    const upload = (entityId: string, id: string) =>
      api.store.transaction((tx) =>
        insertUpload(tx, { upload: { id, mediaType: 'image/png', bytes: 5 }, entityId, name: `${id}.png` }),
      );
    await upload(ada, 'hers');
    await upload(ben, 'his');
    expect(ofType(await exported(ada), 'file')).toEqual([
      { type: 'file', id: 'hers', name: 'hers.png', mediaType: 'image/png', bytes: 5, createdAt: expect.any(Number) },
    ]);
  });

  test('[O5] is read in pages: none of many messages is missing or twice', async () => {
    const ada = await api.person();
    const spaces = [await api.space(ada), await api.space(ada)];
    for (const space of spaces)
      await Promise.all(
        Array.from({ length: 230 }, (_, at) =>
          api.done('POST', `/api/spaces/${space}/messages`, { entityId: ada, text: `Message ${at}.` }),
        ),
      );
    const messages = ofType(await exported(ada), 'message');
    expect(messages).toHaveLength(460);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(460);
  });

  test('[O5] is cut when the key is revoked while it is read', async () => {
    const ada = await api.person('Ada');
    for (let spaces = 0; spaces < 3; spaces++) await api.space(ada);
    const { id, key } = await api.done<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'k',
      scopes: ['admin'],
    });
    const answer = await api.app.fetch(toRequest('GET', `/api/export?entityId=${ada}`, { secret: key }));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"type":"entity"');
    await api.call('DELETE', `/api/keys/${id}`);
    await expect(reader.read()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('[O5] needs an admin key of the project of the person', async () => {
    await api.done('POST', '/api/projects', { id: 'acme' });
    const key = { name: 'k', scopes: ['admin'], project: 'acme' };
    const { key: secret } = await api.done<{ key: string }>('POST', '/api/keys', key);
    const [ours, body] = [await api.person(), { kind: 'human', displayName: 'Eve' }];
    const theirs = (await api.call('POST', '/api/entities', { body, secret })).body.id;
    const status = async (id: string, given: string) =>
      (await api.call('GET', `/api/export?entityId=${id}`, { secret: given })).status;
    expect(await status(ours, secret)).toBe(404);
    expect(await status(theirs, secret)).toBe(200);
    expect(await status(ours, await api.keyWith('write'))).toBe(403);
    expect(await status('nothing', api.key)).toBe(404);
  });
});
