import { expect, test } from 'vitest';
import { fill } from '../space/crowd.ts';
import { accessibilityProblems } from '../support/accessibility.ts';
import { useBrowser } from '../support/browser.ts';
import { calm, clickStill } from '../support/calm.ts';
import { useStudios } from '../support/studio.ts';
import { askingDesk, CLAUSES, cardOf, holdAnswers, keepScrolling, say } from './desk.ts';

const browser = useBrowser();
const studios = useStudios(browser, askingDesk());
const race =
  '[S3] two people and two tabs answer one card: one wins, the other is told who, and a tab that did nothing agrees';

test(race, async () => {
  const studio = studios.postgres();
  const { page: ada, problems } = await studio.open('/');
  const { page: ben, problems: bensProblems } = await studio.open('/', { as: 'Ben', scopes: [] });
  const second = await ada.context().newPage();
  await ada.waitForURL('**/spaces/*');
  await second.goto(ada.url());
  await say(ada, 'May I lend the key?');
  for (const page of [ada, ben, second]) {
    await cardOf(page, /^lend_key, waits/).waitFor();
    await calm(page);
  }
  // Ben clicks first, but his answer is slow: the gateway decides.
  const release = await holdAnswers(ben);
  await clickStill(cardOf(ben, /^lend_key/).getByRole('button', { name: 'Yes' }));
  await cardOf(ben, /^lend_key, the answer is being sent/).waitFor();
  await clickStill(cardOf(ada, /^lend_key/).getByRole('button', { name: 'No' }));
  await cardOf(ada, /^lend_key, done/)
    .getByText('No', { exact: true })
    .waitFor();
  release();
  const lost = cardOf(ben, /^lend_key, answered by another person/);
  await lost.getByText(/^Ada answered No .*before you\.$/).waitFor();
  expect(await lost.getByText('Yes', { exact: true }).evaluate((one) => one.tagName)).toBe('DEL');
  await cardOf(second, /^lend_key, done/)
    .getByText('Ada,')
    .waitFor();
  // Operators see the race: who won, and the other answer.
  const { items } = await studio.gateway.api('/api/pending?status=resolved');
  const { callId } = items.find(({ toolName }: { toolName: string }) => toolName === 'lend_key');
  await second.goto(`${studio.gateway.url}/calls/${callId}`);
  await second.getByRole('link', { name: 'Receipt' }).click();
  const receipt = second.getByRole('region', { name: 'Who answered' });
  await receipt.getByText(/^Ada answered after /).waitFor();
  await receipt.getByText(/^Ben said Yes .* later: it was kept, and changed nothing\.$/).waitFor();

  // A person who may not answer sees who may, and no buttons.
  await say(ada, 'Open the vault?');
  const closed = cardOf(ben, /^open_vault, waits/);
  await closed.getByText('Ada may answer').waitFor();
  await closed.getByText('you may not').waitFor();
  expect(await closed.getByRole('button').count()).toBe(0);
  await calm(ada);
  await clickStill(cardOf(ada, /^open_vault, waits/).getByRole('button', { name: 'No' }));
  await cardOf(ben, /^open_vault, done/)
    .getByText('Ada,')
    .waitFor();
  // The browser itself logs the 409 of the answer that lost.
  expect([...problems, ...bensProblems].filter((one) => !one.includes('409'))).toEqual([]);
});

test('[S3] an expired card says so, and an answer that came too late was kept for operators', async () => {
  const studio = studios.postgres();
  const { page, problems } = await studio.open('/');
  await say(page, 'Which colour do you pick?');
  const card = cardOf(page, /^pick_colour/);
  await card.getByText(/^\d+ s left$/).waitFor();
  const release = await holdAnswers(page);
  await calm(page);
  await clickStill(card.getByRole('button', { name: 'green' }));
  await expect
    .poll(async () => (await studio.gateway.api('/api/pending?status=expired')).items.length, { timeout: 30_000 })
    .toBe(1);
  release();
  await cardOf(page, /^pick_colour, expired/)
    .getByText('It was kept for operators')
    .waitFor();
  await page.getByRole('log').getByText('No one answered pick_colour in time').waitFor();
  const [call] = (await studio.gateway.api('/api/pending?status=expired')).items;
  expect(call.lateAnswers).toMatchObject([{ answer: { result: { colour: 'green' } } }]);
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await page.getByRole('link', { name: 'Expired' }).click();
  await page.getByRole('list', { name: 'expired calls' }).getByText('no answer came').waitFor();
  expect(problems.filter((one) => !one.includes('410'))).toEqual([]);
});

test('[S3] buttons are disabled when they appear, Enter approves nothing, and after a refusal the call can be answered again', async () => {
  const studio = studios.sqlite();
  const { page, problems } = await studio.open('/');
  const sent: string[] = [];
  page.on(
    'request',
    (request) => void (request.url().endsWith('/tool-results') && sent.push(request.postData() ?? '')),
  );
  // Simulates a person who was about to click at exactly that place.
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Approve');
      if (button === undefined) return;
      observer.disconnect();
      button.click();
    }).observe(document.body, { childList: true, subtree: true });
  });
  await say(page, 'Wire money, amount 50, to Oslo.');
  const card = cardOf(page, /^wire_money, waits/);
  await card.waitFor();
  await card.focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => card.getByRole('button', { name: 'Approve' }).getAttribute('aria-disabled')).toBe('false');
  expect(sent).toEqual([]);
  await page.keyboard.press('Enter');
  expect(sent).toEqual([]);

  // A denial without a reason does nothing, however its button is pressed.
  await page.keyboard.press('d');
  const deny = card.getByRole('button', { name: 'Deny', exact: true });
  await card.getByRole('textbox', { name: 'Why not?' }).fill('  ');
  expect(await deny.getAttribute('aria-disabled')).toBe('true');
  await deny.focus();
  for (const key of ['Enter', 'Space']) await page.keyboard.press(key);
  await deny.evaluate((button) => (button as HTMLElement).click());
  await deny.click({ force: true });
  await card.getByRole('button', { name: 'Back' }).click();
  await card.focus();
  expect(sent).toEqual([]);

  await page.keyboard.press('a');
  await cardOf(page, /^wire_money, done/)
    .getByText('50 to Oslo')
    .waitFor();

  // Choices are not cut, because they may differ only at the end.
  await say(page, 'Choose a clause.');
  const clauses = cardOf(page, /^choose_clause, waits/);
  await clauses.waitFor();
  expect(await clauses.getByRole('button').allInnerTexts()).toEqual(CLAUSES);
  await calm(page);
  await clickStill(clauses.getByRole('button', { name: /never\.$/ }));
  await cardOf(page, /^choose_clause, done/).waitFor();
  const { items: chosen } = await studio.gateway.api('/api/pending?status=resolved');
  expect(chosen.find(({ toolName }: { toolName: string }) => toolName === 'choose_clause').answer).toEqual({
    result: CLAUSES.at(-1),
  });

  await say(page, 'Sign the pledge?');
  await cardOf(page, /^sign_pledge, waits/).waitFor();
  await calm(page);
  await clickStill(cardOf(page, /^sign_pledge, waits/).getByRole('button', { name: 'No' }));
  const refused = cardOf(page, /^sign_pledge, the answer was not accepted/);
  await refused.getByRole('alert').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await calm(page);
  await clickStill(refused.getByRole('button', { name: 'Yes' }));
  await cardOf(page, /^sign_pledge, done/)
    .getByText('Ada,')
    .waitFor();
  expect(problems.filter((one) => !one.includes('422'))).toEqual([]);
});

test('[S3] a card takes a click while its list scrolls, and keeps what is typed into it while others write and while it is out of sight', async () => {
  const studio = studios.sqlite();
  const { page, problems } = await studio.open('/');
  // Posted by the agent itself, which does not answer its own messages.
  const [{ entityId: clerk }] = (await studio.gateway.api('/api/agents')).items;
  const notes = Array.from({ length: 40 }, (_, index) => `Note ${index}`);
  await fill(studio.gateway, notes, clerk);
  await say(page, 'Wire money, amount 70, to Bergen.');
  const card = cardOf(page, /^wire_money, waits/);
  await card.waitFor();
  await calm(page);
  const button = card.getByRole('button', { name: 'Deny …' });
  await button.scrollIntoViewIfNeeded();
  const stop = await keepScrolling(page.getByRole('log'));
  const place = await button.boundingBox();
  // One click at a position, as by a person: Playwright's click would first wait until nothing is in the way.
  await page.mouse.click((place?.x ?? 0) + 10, (place?.y ?? 0) + 10);
  const reason = card.getByRole('textbox', { name: 'Why not?' });
  await reason.waitFor();
  await stop();
  await page.keyboard.type('It was paid');
  await fill(studio.gateway, notes, clerk);
  await page.keyboard.type(' in May.');
  await page.getByRole('button', { name: '40 new' }).click();
  await expect.poll(() => page.getByRole('log').getByText('Note 39').count()).toBe(1);
  await reason.focus();
  expect(await reason.inputValue()).toBe('It was paid in May.');
  await clickStill(card.getByRole('button', { name: 'Deny', exact: true }));
  await cardOf(page, /^wire_money, cancelled/)
    .getByText('Denied: It was paid in May.')
    .waitFor();
  expect(problems).toEqual([]);
});

test('[S3] [S4] the inbox has what waits in all spaces, least time left first; with the keyboard alone it is opened and answered', async () => {
  const studio = studios.postgres();
  const { page, problems } = await studio.open('/', { theme: 'dark' });
  await say(page, 'Open the vault?');
  await cardOf(page, /^open_vault, waits/).waitFor();
  await say(page, 'Pick a room.');
  await cardOf(page, /^pick_room, waits/).waitFor();
  await page.getByRole('textbox', { name: /^Write to/ }).evaluate((field) => field.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  const rows = page.getByRole('list', { name: 'waiting calls' }).getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('link', { name: 'Inbox 2 waiting' }).waitFor();
  expect((await rows.allTextContents()).map((text) => /pick_room|open_vault/.exec(text)?.[0])).toEqual([
    'pick_room',
    'open_vault',
  ]);
  await rows.first().getByText('Clerk, Desk').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const card = cardOf(page, /^pick_room/);
  const field = card.getByRole('textbox');
  await field.focus();
  await page.keyboard.type('{"blue": "two"}');
  await expect.poll(() => card.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('false');
  await card.getByRole('button', { name: 'Send' }).focus();
  await page.keyboard.press('Enter');
  // It does not fit, and is not sent; the typed text stays.
  await expect.poll(() => field.inputValue()).toContain('two');
  await card
    .getByText(/integer/)
    .first()
    .waitFor();
  await field.fill('{"blue": 2}');
  await card.getByRole('button', { name: 'Send' }).focus();
  await page.keyboard.press('Enter');
  await card.getByText('Ada,').waitFor();
  await page.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);

  await page.getByRole('link', { name: 'Answered' }).click();
  await page.getByRole('list', { name: 'answered calls' }).getByText('2: Ada').waitFor();
  const { page: ben } = await studio.open('/inbox', { as: 'Ben', scopes: [], width: 380, height: 760 });
  await ben.getByText('Nothing is waiting for you.').waitFor();
  expect(await accessibilityProblems(ben)).toEqual([]);
  expect(problems).toEqual([]);
});
