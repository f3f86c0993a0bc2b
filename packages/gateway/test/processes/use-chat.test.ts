import { isToolUIPart } from 'ai';
import { describe, expect, test } from 'vitest';
import { openPage, type Page } from '../use-chat/page.ts';
import { SECRET_KEY } from './api.ts';
import { openCrew, twoGateways } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { until } from './until.ts';

/** Long enough that a gateway that is only slow keeps its run until it is killed. */
const LEASE_MS = 4_000;
const HALF = 'Half of this is never sent.';
const isHalf = (shown: unknown): boolean => typeof shown === 'string' && shown !== '' && HALF.startsWith(shown);

/**
 * Charges, records, reports. The gateway `a` is held in the middle of the reply after the charge, and killed there. Others continue only after
 * that, also if they have taken the run over before, because `a` was too slow.
 */
async function nextStep({ gateway, calls }: ModelRequest, isCrashed: Promise<void>): Promise<ModelReply> {
  if (calls.length === 0) return { text: 'First the charge.', calls: [{ name: 'charge', input: { ref: 'c' } }] };
  if (gateway === 'a') return { text: HALF, calls: [], hold: new Promise(() => {}) };
  await isCrashed;
  if (calls.length === 1) return { text: 'Now the record.', calls: [{ name: 'record', input: { ref: 'c' } }] };
  return { text: 'Both are done.' };
}

function pageAt(url: () => string, id?: string): Page {
  return openPage({
    api: 'http://gateway/api/agents/Anna/chat',
    secret: SECRET_KEY,
    ...(id === undefined ? {} : { id }),
    fetch: (input, init) => fetch(String(input).replace('http://gateway', url()), init),
  });
}

describe.each(twoGateways)('a chat page whose gateway is killed on $kind', ({ kind }) => {
  test('[S11] resumes at another gateway, sees every part once, and every effect happened once', async () => {
    const { promise: isCrashed, resolve: goOn } = Promise.withResolvers<void>();
    const decide = (request: ModelRequest): Promise<ModelReply> => nextStep(request, isCrashed);
    await using crew = await openCrew({ kind, leaseMs: LEASE_MS, decide });
    let { url } = crew.first;
    const page = pageAt(() => url);
    const asked = page.say('Charge and record it.');
    await until('the model is held in its second reply', () => page.shown.length === 3 && isHalf(page.shown[2]));
    expect(page.shown.slice(0, 2)).toEqual(['First the charge.', ['charge', 'output-available', expect.anything()]]);
    // With two gateways, another tab follows the run at the other one.
    const watcher = kind === 'postgres' ? pageAt(() => crew.named('b').url, page.chat.id) : undefined;
    const watched = watcher?.chat.resumeStream();
    if (watcher !== undefined) await until('the other tab shows the same', () => isHalf(watcher.shown[2]));
    ({ url } = await crew.crash('a'));
    goOn();
    await asked;
    expect(page.chat.status).toBe('error');
    await page.chat.resumeStream();
    expect(page.chat.status).toBe('ready');
    expect(page.shown).toEqual([
      'First the charge.',
      ['charge', 'output-available', expect.anything()],
      'Now the record.',
      ['record', 'output-available', expect.anything()],
      'Both are done.',
    ]);
    await watched;
    if (watcher !== undefined) expect(watcher.chat.messages.at(-1)).toEqual(page.chat.messages[1]);
    expect(page.chat.messages).toHaveLength(2);
    const parts = page.chat.messages[1]?.parts.filter(isToolUIPart) ?? [];
    expect(new Set(parts.map(({ toolCallId }) => toolCallId)).size).toBe(2);
    expect((await crew.site.effects()).map(({ toolName }) => toolName)).toEqual(['charge', 'record']);
    // Sent again, the message is known.
    const again = openPage({
      api: `${url}/api/agents/Anna/chat`,
      secret: SECRET_KEY,
      id: page.chat.id,
      generateId: () => page.chat.messages[0]?.id ?? '',
    });
    await again.say('Charge and record it.');
    expect(again.shown).toEqual(page.shown);
    expect(await crew.site.effects()).toHaveLength(2);
    expect(crew.site.model.problems).toEqual([]);
  });
});
