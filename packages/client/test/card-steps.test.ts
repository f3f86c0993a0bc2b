import { act, createElement, type ReactElement, useState } from 'react';
import { expect, test } from 'vitest';
import { createClient } from '../src/index.ts';
import { type CardItem, LastcallProvider, ToolCard } from '../src/react/index.ts';
import { createRoot } from './support/page.ts';

const client = createClient({ url: 'http://127.0.0.1:9', auth: { key: 'none' } });

function card(callId: string, input: object, call: object = { kind: 'approval' }): CardItem {
  const message = {
    ...{ id: callId, spaceId: 's', seq: 1, entityId: 'bot', kind: 'tool', text: '', status: 'requires_action', callId },
    ...{ runId: 'r', metadata: { toolName: 'pay', input }, call, createdAt: 1 },
  } as never;
  return { kind: 'card', id: callId, entityId: 'bot', toolName: 'pay', inputText: '', message };
}

/** A page that shows one card at a time, without a React key. */
async function openPage(components = {}) {
  const container = document.createElement('div');
  const root = createRoot(container);
  const show = (item: CardItem): Promise<void> => {
    const shown: ReactElement = createElement(ToolCard, { item });
    return act(async () => root.render(createElement(LastcallProvider, { client, components }, shown)));
  };
  const buttons = () => [...container.querySelectorAll('button')];
  const click = (word: string) =>
    act(async () =>
      buttons()
        .find(({ textContent }) => textContent === word)
        ?.click(),
    );
  return { show, click, words: () => buttons().map(({ textContent }) => textContent), container };
}

const LONG = 'A line.\n'.repeat(40);

test('[S21] the card of the next call does not keep what was entered on the card of the last one', async () => {
  const page = await openPage();
  await page.show(card('one', { to: 'Ada' }));
  await page.click('Edit …');
  expect(page.container.querySelector('textarea')?.value).toContain('Ada');
  await page.show(card('two', { to: 'Ben' }));
  expect(page.container.innerHTML).not.toContain('Ada');
  expect(page.words()).toContain('Approve');
});

test('[S21] an input that changes while its card is edited has to be opened before anything is approved', async () => {
  const page = await openPage();
  await page.show(card('one', { to: 'Ada' }));
  await page.click('Allow more …');
  expect(page.words()).toEqual(['Back', 'Approve and allow']);
  await page.show(card('one', { to: 'Ada', terms: LONG }));
  expect(page.words()).not.toContain('Approve and allow');
  expect(page.container.textContent).toContain('Approve is off until you have opened all of the input');
});

test('[S3] the card of a call that asks again does not keep what was entered for its first question', async () => {
  const Typed = (): ReactElement => {
    const [text, setText] = useState('nothing');
    return createElement('button', { type: 'button', onClick: () => setText('Ada') }, text);
  };
  const page = await openPage({ pay: Typed });
  await page.show(card('one', {}, { kind: 'input', round: 1 }));
  await page.click('nothing');
  expect(page.words()).toEqual(['Ada']);
  await page.show(card('one', {}, { kind: 'input', round: 2 }));
  expect(page.words()).toEqual(['nothing']);
});

test('[O9] the card says which inputs a grant covers that this call does not have', async () => {
  const page = await openPage();
  await page.show(card('one', { to: 'Ada' }));
  await page.click('Allow more …');
  expect(page.container.textContent).toContain('Fields that are not listed may have any value.');
  await page.show(card('two', {}));
  await page.click('Allow more …');
  expect(page.container.textContent).toContain('It may have any input.');
});
