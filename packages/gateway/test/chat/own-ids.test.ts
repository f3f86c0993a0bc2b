import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { toRequest } from '../http/api.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { chatApi } from './chat-api.ts';

describeWorlds('ids that entities choose for their contexts', (open) => {
  test('[G68] [C8] an id is taken only for its own caller, and reveals nothing about ids of other callers or agents', async () => {
    const api = await chatApi(await open({ models: { default: scriptedModel(() => 'Hi.') } }));
    const agent = await api.agent();
    const [ada, bob] = [await api.person('Ada'), await api.person('Bob')];
    await api.space(ada, bob, agent);
    const [hers, his] = [await api.tokenOf(ada), await api.tokenOf(bob)];
    const create = async (secret: string, id: string) => {
      const { status, body } = await api.call('POST', '/contexts', { secret, body: { id, agent } });
      return [status, body.id ?? body.error.code];
    };
    await api.done('POST', '/contexts', { id: 'of-key', agent });
    expect(await create(hers, 'mine')).toEqual([201, 'mine']);
    expect(await create(hers, 'mine')).toEqual([409, 'id_taken']);
    for (const id of ['mine', 'of-key', agent]) expect(await create(his, id)).toEqual([201, id]);
    const given = await api.done('POST', '/contexts', { id: 'given', agent, entity_id: ada });
    expect(await create(hers, String(given.id))).toEqual([409, 'id_taken']);
    // Her token would reach only her own conversation.
    const hidden = await api.call('POST', '/contexts', { body: { id: 'mine', agent, entity_id: ada } });
    expect([hidden.status, hidden.body.error?.code]).toEqual([409, 'id_taken']);
    // A conversation of an entity does not reserve an id that an agent is to have.
    expect(await create(his, 'next-agent')).toEqual([201, 'next-agent']);
    await api.done('POST', '/api/agents', { id: 'next-agent', name: 'Next', instructions: '' });
  });

  test('[G68] two people have a chat of the same id, and each reads and continues their own', async () => {
    const world = await open({ models: { default: scriptedModel(() => 'Hi.') } });
    const api = await chatApi(world);
    const agent = await api.agent();
    const people = [await api.person('Ada'), await api.person('Bob')];
    await api.space(...people, agent);
    for (const [index, person] of people.entries()) {
      const secret = await api.tokenOf(person);
      const words = `I am number ${index}.`;
      const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: words }] }];
      const page = `/api/agents/${agent}/chat`;
      const answered = await api.call('POST', page, { secret, body: { id: 'chat-1', messages } });
      expect([answered.status, answered.body.includes('"contextId":"chat-1"')]).toEqual([200, true]);
      const { body } = await api.call('POST', '/chat', { secret, body: { context_id: 'chat-1', message: 'Again' } });
      expect(body).toMatchObject({ response: 'Hi.', context_id: 'chat-1' });
      const sent = {
        secret,
        headers: { accept: 'text/event-stream' },
        body: { context_id: 'chat-1', message: 'More' },
      };
      const streamed = await api.app.fetch(toRequest('POST', '/chat', sent));
      expect(streamed.headers.get('x-context-id')).toBe('chat-1');
      await streamed.text();
      const history = await api.call('GET', `${page}/chat-1/messages`, { secret });
      expect(JSON.stringify(history.body).match(/I am number \d/g)).toEqual([words.slice(0, -1)]);
      const read = await api.call('GET', '/contexts/chat-1', { secret });
      expect([read.body.id, read.body.messages[0].message]).toEqual(['chat-1', words]);
      expect((await api.call('GET', `${page}/chat-1/stream`, { secret })).status).toBe(200);
    }
  });
});
