import { dispatchCall } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import type { SpaceToolContext } from '../../src/runtime/tools/built-in-context.ts';
import { spaceTools } from '../../src/runtime/tools/space-tools.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { openApi } from './api.ts';

describe.each(overlapping)('reading a space while a member is removed from it on $kind', ({ create }) => {
  const database = forAllTests(create);
  const api = forAllTests(() => openApi(database));

  /** Removes Bob from a space and posts a message there while `read` waits for the messages. */
  const readWhileTakenOut = async (read: (space: string, bob: string) => Promise<string>): Promise<string> => {
    const [ann, bob] = [await api.person('Ann'), await api.person('Bob')];
    const space = await api.space(ann, bob);
    const said = await api.done<{ id: string }>('POST', `/api/spaces/${space}/messages`, { entityId: ann, text: 'Hi' });
    // The lock blocks reads of messages, but not the removal of a member.
    const held = await holdLock(database, 'lock table messages in access exclusive mode');
    const reading = read(space, bob);
    await held.waitedFor();
    await api.done('DELETE', `/api/spaces/${space}/members?entityId=${bob}`);
    await held.query(
      `insert into messages (id, space_id, seq, entity_id, kind, content, reply_to, metadata, call_id, client_message_id, status,
         run_id, created_at, updated_at)
       select $2, space_id, seq + 1, entity_id, kind, '"Bob is gone"', reply_to, metadata,
         call_id, client_message_id, status, run_id, created_at, updated_at from messages where id = $1`,
      [said.id, `${said.id} later`],
    );
    await held.release();
    return await reading;
  };

  test('[G1] a removed member reads no message that was posted after the removal', async () => {
    const read = async (space: string, bob: string): Promise<string> => {
      const { status, body } = await api.call('GET', `/api/spaces/${space}/messages`, {
        secret: await api.tokenOf(bob),
      });
      return `${status} ${JSON.stringify(body)}`;
    };
    expect(await readWhileTakenOut(read)).toMatch(/^404 (?!.*Bob is gone)/);
  });

  test('[G1] a removed agent reads with read_messages no message that was posted after the removal', async () => {
    const { services } = api;
    const read = async (spaceId: string, entityId: string): Promise<string> => {
      const agent = { id: entityId, entityId, name: 'Bob' };
      const read: SpaceToolContext['read'] = (work) => work(services.store.db);
      const context = { services, agent, read } as unknown as SpaceToolContext;
      const tools = spaceTools(() => context, { messageCharacters: 100 });
      const call = { toolName: 'read_messages', input: { spaceId } };
      const { outcome } = await dispatchCall({ tools, call });
      return `${outcome.status} ${outcome.text}`;
    };
    expect(await readWhileTakenOut(read)).toMatch(/^error (?!.*Bob is gone)/);
  });
});
