import { scriptedModel } from '@lastcall/core/testing';
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { startTestGateway } from '../../src/testing/index.ts';
import { openPage } from './page.ts';

test('[S11] a message with an uploaded file is answered again and edited, and nobody else can send that file', async () => {
  const model = scriptedModel(['An invoice.', 'A paid invoice.', 'It says 5.']);
  await using gateway = await startTestGateway({
    model,
    modelFiles: { 'test-model': ['pdf'] },
    agents: [{ name: 'Clerk', instructions: 'Read invoices.' }],
    spaces: [
      { name: 'Accounts', agents: ['Clerk'], people: ['Ada', 'Eve'].map((name) => ({ name, externalId: name })) },
    ],
  });
  const tokenOf = async (name: string): Promise<string> => {
    const [person] = (await gateway.api(`/api/entities?externalId=${name}`)).items;
    return (await gateway.api(`/api/entities/${person.id}/token`, {})).token;
  };
  const [ada, eve] = [await tokenOf('Ada'), await tokenOf('Eve')];
  const uploaded = await fetch(`${gateway.url}/api/artifacts?name=invoice.pdf`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada}` },
    body: '%PDF-1.7 …',
  });
  const { id: fileId } = (await uploaded.json()) as { id: string };
  const message = { agent: 'Clerk', message: 'What is it?', attachments: [fileId] };
  const { context_id: id } = await gateway.api('/chat', message, { key: ada });
  const api = `${gateway.url}/api/agents/Clerk/chat`;
  const messages = (await gateway.api(`/api/agents/Clerk/chat/${id}/messages`, undefined, { key: ada })) as UIMessage[];
  const file = messages[0]?.parts.find(({ type }) => type === 'file');
  expect(file).toMatchObject({ url: `/api/artifacts/${fileId}`, filename: 'invoice.pdf' });

  const page = openPage({ api, secret: ada, id, messages });
  await page.chat.regenerate();
  expect([page.chat.error?.message, page.shown]).toEqual([undefined, ['A paid invoice.']]);
  const parts = [...(file === undefined ? [] : [file]), { type: 'text', text: 'What does it say?' } as const];
  await page.chat.sendMessage({ messageId: messages[0]?.id ?? '', parts });
  expect([page.chat.error?.message, page.shown]).toEqual([undefined, ['It says 5.']]);
  const files = model.requests.map(({ prompt }) => JSON.stringify(prompt).split('"application/pdf"').length - 1);
  // The edited message has the file too, and replaces nothing in the conversation.
  expect(files).toEqual([1, 1, 2]);

  const other = openPage({ api, secret: eve });
  await other.chat.sendMessage({ parts });
  expect(other.chat.error?.message).toContain('must be ids of files that the sender has uploaded');
  expect(model.requests).toHaveLength(3);
});

test('[S11] a chosen file whose type has parameters reaches the model under its plain type', async () => {
  const model = scriptedModel(['A greeting.']);
  await using gateway = await startTestGateway({ model, agents: [{ name: 'Clerk', instructions: 'Read.' }] });
  const page = openPage({ api: `${gateway.url}/api/agents/Clerk/chat`, secret: gateway.secretKey });
  // What a browser writes for `new File([text], 'a.txt', { type: 'text/plain;charset=utf-8' })`.
  const url = `data:text/plain;charset=utf-8;base64,${btoa('Hello.')}`;
  await page.chat.sendMessage({
    text: 'What is it?',
    files: [{ type: 'file', mediaType: 'text/plain', filename: 'a.txt', url }],
  });
  expect([page.chat.error?.message, page.shown]).toEqual([undefined, ['A greeting.']]);
  const file = {
    type: 'file',
    mediaType: 'text/plain',
    filename: 'a.txt',
    data: { type: 'data', data: btoa('Hello.') },
  };
  expect(model.requests[0]?.prompt.at(-1)?.content).toContainEqual(file);
});
