import { startTestGateway } from '@lastcall/gateway/testing';
import { expect, test, vi } from 'vitest';
import { type ConnectionState, createClient } from '../src/index.ts';
import { onceHidden } from '../src/page-visibility.ts';
import { window } from './support/page.ts';

/** As a browser does: first the flag, then the event. */
function hide(isHidden: boolean): void {
  Object.defineProperty(window.document, 'hidden', { value: isHidden, configurable: true });
  window.document.dispatchEvent(new window.Event('visibilitychange'));
}

test('[S9] a page in the background closes its connection, and resumes later: messages posted meanwhile arrive once', async () => {
  await using gateway = await startTestGateway({
    spaces: [{ name: 'Desk', people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const client = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
  const spaceId = (await client.spaces.list()).items[0]?.id ?? '';
  const entityId = (await client.entities.list({ externalId: 'ada' })).items[0]?.id ?? '';
  const say = (text: string) => client.spaces.say(spaceId, { text, entityId });
  const closed = vi.spyOn(BroadcastChannel.prototype, 'close');
  const states: ConnectionState[] = [];
  const texts: string[] = [];
  const end = new AbortController();
  const reading = (async () => {
    const options = { signal: end.signal, hiddenMs: 20, onConnection: (state: ConnectionState) => states.push(state) };
    for await (const event of client.spaces.stream(spaceId, options))
      if (event.type === 'message.complete') texts.push(event.message.text);
  })();
  const metrics = async (): Promise<string> => (await gateway.request('/metrics')).text();
  await expect.poll(() => states).toEqual(['connecting', 'live']);
  hide(true);
  await expect.poll(metrics).toMatch(/^lastcall_open_streams(?:\{.*\})? 0$/m);
  // No event had come before, so only the start of the stream says where to continue.
  await say('While it is hidden.');
  hide(false);
  await expect.poll(() => texts).toEqual(['While it is hidden.']);
  await say('Once it is back.');
  await expect.poll(() => texts).toEqual(['While it is hidden.', 'Once it is back.']);
  expect(states).toEqual(['connecting', 'live', 'connecting', 'live']);
  end.abort();
  await reading;
  // One channel to the other tabs for each connection.
  expect(closed).toHaveBeenCalledTimes(2);
  closed.mockRestore();
});

test('[S9] a page in the background gives its connection up for three tabs that were opened since, and not for earlier ones', async () => {
  const name = 'lastcall-connections';
  let isGivenUp = false;
  const unwatch = onceHidden(3_600_000, () => {
    isGivenUp = true;
  });
  const open = async (): Promise<void> => {
    const [tab, heard] = [new BroadcastChannel(name), new BroadcastChannel(name)];
    const { promise, resolve } = Promise.withResolvers<unknown>();
    heard.onmessage = resolve;
    tab.postMessage('opening');
    await promise;
    tab.close();
    heard.close();
  };
  hide(true);
  await open();
  await open();
  hide(false);
  hide(true);
  await open();
  await open();
  expect(isGivenUp).toBe(false);
  await open();
  await expect.poll(() => isGivenUp).toBe(true);
  hide(false);
  unwatch();
  isGivenUp = false;
  hide(true);
  for (let count = 0; count < 6; count++) await open();
  expect(isGivenUp).toBe(false);
  hide(false);
});
