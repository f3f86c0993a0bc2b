import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ScriptedReply } from '@lastcall/core/testing';
import { type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { describe, expect, test } from 'vitest';
import { fixedTool } from '../chat/chat-api.ts';
import { filer, working } from '../files/filing.ts';
import { forEachTest } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';
import { erasureGateways } from './erasure-gateways.ts';
import { filesWithEach, tablesWith, tablesWithEach } from './planted.ts';

const NAME = 'Qx7v.bin';
const LONG_NAME = 'biopsy result of grandmother petronella march.bin';
const BYTES = 'These bytes say Wy4k.';
const SHORT = 'Zk8w ill';

describe.each(databases)('an erasure of files and short texts on $kind', ({ create }) => {
  const database = forEachTest(create);
  const { home, open, stop } = erasureGateways(database);
  const settle = async (gateway: TestGateway) => {
    const { api } = gateway;
    const agent = (await api('/api/agents', { name: 'Polly', instructions: 'Help.' })).id as string;
    const ada = (await api('/api/entities', { kind: 'human', displayName: 'Ada' })).id as string;
    const ben = (await api('/api/entities', { kind: 'human', displayName: 'Ben' })).id as string;
    const members = [agent, ada, ben].map((entityId) => ({ entityId }));
    const space = (await api('/api/spaces', { name: 'Harbour', members })).id as string;
    return { agent, ada, ben, space };
  };
  const upload = async ({ url }: TestGateway, token: string, name: string) => {
    const response = await fetch(`${url}/api/artifacts?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: BYTES,
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: string }).id;
  };
  const tokenOf = async ({ api }: TestGateway, entityId: string): Promise<string> =>
    (await api(`/api/entities/${entityId}/token`, {})).token;
  const runsEnded = ({ api }: TestGateway, count: number) =>
    waitFor(async () => (await api('/api/runs?status=completed&limit=100')).items.length >= count, {
      timeoutMs: 60_000,
    });
  const erased = async ({ api }: TestGateway, path: string) => {
    const answer = await api(path, undefined, { method: 'DELETE' });
    const { id } = answer.erasure ?? answer;
    await waitFor(async () => (await api(`/api/erasures/${id}`)).status === 'done', { timeoutMs: 90_000 });
  };
  /** Where each text still is, once the gateway has stopped. */
  const left = async (...texts: readonly string[]) => {
    await stop();
    const store = await database.open();
    try {
      const [tables, files] = [await tablesWithEach(store, texts), await filesWithEach(database, home.path, texts)];
      return Object.fromEntries(texts.map((text) => [text, [...(tables[text] ?? []), ...(files[text] ?? [])]]));
    } finally {
      await store.close();
    }
  };
  const NOWHERE = (...texts: readonly string[]) => Object.fromEntries(texts.map((text) => [text, []]));

  /** Repeats the name of the file, also in later runs. */
  const quoter = ({ prompt }: LanguageModelV4CallOptions): ScriptedReply =>
    JSON.stringify(prompt).includes(LONG_NAME) ? `I saw ${LONG_NAME} before.` : 'Seen.';

  test('[O3] the names, bytes and copies of names of files of a deleted person are gone', async () => {
    const gateway = await open(quoter);
    const { ada, ben, space } = await settle(gateway);
    const token = await tokenOf(gateway, ada);
    const attachments = [await upload(gateway, token, NAME), await upload(gateway, token, LONG_NAME)];
    await upload(gateway, token, 'unused.bin');
    await gateway.api(`/api/spaces/${space}/messages`, { text: SHORT, attachments }, { key: token });
    await runsEnded(gateway, 1);
    await gateway.api(`/api/spaces/${space}/messages`, { entityId: ben, text: 'What was it?' });
    await runsEnded(gateway, 2);
    await erased(gateway, `/api/entities/${ada}`);
    expect(await left(NAME, LONG_NAME, 'Wy4k', SHORT)).toEqual(NOWHERE(NAME, LONG_NAME, 'Wy4k', SHORT));
  });

  test('[O3] the short texts and the files of a deleted space are gone', async () => {
    const gateway = await open(() => 'Ok Vb3n.');
    const { ada, space } = await settle(gateway);
    const token = await tokenOf(gateway, ada);
    const attachments = [await upload(gateway, token, NAME)];
    await gateway.api(`/api/spaces/${space}/messages`, { text: SHORT, attachments }, { key: token });
    await runsEnded(gateway, 1);
    await erased(gateway, `/api/spaces/${space}`);
    expect(await left(NAME, 'Wy4k', SHORT, 'Vb3n')).toEqual(NOWHERE(NAME, 'Wy4k', SHORT, 'Vb3n'));
  });

  test('[O3] the short texts of an erased agent are gone', async () => {
    const gateway = await open(() => 'Ok Vb3n.');
    const { agent, ada, space } = await settle(gateway);
    await gateway.api(`/api/spaces/${space}/messages`, { entityId: ada, text: 'Hello.' });
    await runsEnded(gateway, 1);
    await erased(gateway, `/api/agents/${agent}?erase=true`);
    expect(await left('Vb3n')).toEqual(NOWHERE('Vb3n'));
  });

  test('[O3] ids of the gateway, and names of tools, in what a person wrote are not their text', async () => {
    const TOOL = 'create_purchase_order';
    const gateway = await open(({ prompt }) =>
      prompt.at(-1)?.role === 'tool' || !JSON.stringify(prompt).includes('Order') ? 'Ok.' : [{ toolName: TOOL }],
    );
    await gateway.api('/api/tools', fixedTool(TOOL, 'Ordered.'));
    const { ada, ben, space } = await settle(gateway);
    const agent = (await gateway.api('/api/agents', { name: 'Buyer', instructions: 'Buy.', tools: [TOOL] })).id;
    const members = [agent, ben].map((entityId) => ({ entityId }));
    const other = (await gateway.api('/api/spaces', { name: 'Purchase', members })).id;
    await gateway.api(`/api/spaces/${other}/messages`, { entityId: ben, text: 'Order.' });
    await runsEnded(gateway, 1);
    const before = await gateway.api(`/api/agents/${agent}/transcript`);
    const [run] = (await gateway.api('/api/runs')).items;
    expect(JSON.stringify(before)).toContain(TOOL);
    const text = `Look at ${run.id} of ${other}, ${run.id.slice(0, 8)}, and use ${TOOL}.`;
    await gateway.api(`/api/spaces/${space}/messages`, { entityId: ada, text });
    await runsEnded(gateway, 2);
    await erased(gateway, `/api/entities/${ada}`);
    expect(await gateway.api(`/api/agents/${agent}/transcript`)).toEqual(before);
  });

  test('[O3] a file that an operator writes while an agent reads a message is not deleted with the message', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const model = async ({ prompt }: LanguageModelV4CallOptions): Promise<ScriptedReply> => {
      if (prompt.some(({ role }) => role === 'tool')) return 'Noted.';
      asked.resolve();
      await answer.promise;
      return working({ write: { 'own.txt': 'She is Vb3n.' } });
    };
    const gateway = await open(model, {
      definitions: { clerk: filer() },
      agents: [{ name: 'Clerk', instructions: '', definition: 'clerk' }],
    });
    const { ada } = await settle(gateway);
    const [{ id: agent }] = (await gateway.api('/api/agents')).items;
    const members = [agent, ada].map((entityId) => ({ entityId }));
    const space = (await gateway.api('/api/spaces', { name: 'Desk', members })).id;
    await gateway.api(`/api/spaces/${space}/messages`, { entityId: ada, text: SHORT });
    await asked.promise;
    const content = 'Prices of 2026.';
    await gateway.api(`/api/agents/${agent}/files/prices.txt`, { content }, { method: 'PUT' });
    answer.resolve();
    await runsEnded(gateway, 1);
    const files = async () =>
      (await gateway.api(`/api/agents/${agent}/files`)).items.map(({ path }: { path: string }) => path);
    expect(await files()).toEqual(['own.txt', 'prices.txt']);
    await erased(gateway, `/api/entities/${ada}`);
    expect(await files()).toEqual(['prices.txt']);
    expect(await gateway.api(`/api/agents/${agent}/files/prices.txt`)).toMatchObject({ content });
    expect(await left('Vb3n')).toEqual(NOWHERE('Vb3n'));
  });

  test('[O3] erasing a conversation deletes its files, and nothing of others', async () => {
    const gateway = await open(() => 'Ok Vb3n.');
    const { agent, ada, ben, space } = await settle(gateway);
    const [token, other] = [await tokenOf(gateway, ada), await tokenOf(gateway, ben)];
    const theirs = await upload(gateway, other, 'kept.bin');
    await gateway.api(`/api/spaces/${space}/messages`, { text: 'Keep.', attachments: [theirs] }, { key: other });
    await runsEnded(gateway, 1);
    const attachments = [await upload(gateway, token, NAME)];
    const { context_id } = await gateway.api('/chat', { agent, message: SHORT, attachments }, { key: token });
    const before = await gateway.api(`/api/agents/${agent}/transcript`);
    await erased(gateway, `/contexts/${context_id}?erase=true`);
    const after = await gateway.api(`/api/agents/${agent}/transcript`);
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    expect(await left(NAME, SHORT)).toEqual(NOWHERE(NAME, SHORT));
  });

  test('[O3] deleting a conversation deletes its files', async () => {
    const gateway = await open(() => 'Ok.');
    const { agent, ada } = await settle(gateway);
    const token = await tokenOf(gateway, ada);
    const attachments = [await upload(gateway, token, NAME)];
    const { context_id } = await gateway.api('/chat', { agent, message: SHORT, attachments }, { key: token });
    await gateway.api(`/contexts/${context_id}`, undefined, { method: 'DELETE' });
    await waitFor(async () => (await gateway.request(`/api/artifacts/${attachments[0]}`)).status === 404);
    expect(await left('Wy4k')).toEqual(NOWHERE('Wy4k'));
    // Only an erasure cleans the files of the database too.
    const store = await database.open();
    expect(await tablesWith(store, NAME)).toEqual([]);
    await store.close();
  });
});
