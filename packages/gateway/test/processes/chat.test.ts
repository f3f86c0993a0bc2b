import { describe, expect, test } from 'vitest';
import { readEventStream } from '../streams/event-stream.ts';
import { SECRET_KEY } from './api.ts';
import { openCrew, twoGateways } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { until } from './until.ts';

const BODY = {
  agent: 'Anna',
  message: 'Charge and record it.',
  terminating_config: { tool_ids: ['complete_task'] },
};

function post(url: string, { isStream = false, lastEventId }: { isStream?: boolean; lastEventId?: string } = {}) {
  return fetch(`${url}/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${SECRET_KEY}`,
      'content-type': 'application/json',
      'idempotency-key': 'the-one',
      ...(isStream ? { accept: 'text/event-stream' } : {}),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    body: JSON.stringify(BODY),
  });
}

/** Charges, records, completes. The gateway `a` gets no reply after the charge, until it is killed. */
function nextStep({ gateway, calls }: ModelRequest): ModelReply | Promise<ModelReply> {
  if (calls.length === 0) return { text: 'First the charge.', calls: [{ name: 'charge', input: { ref: 'c' } }] };
  if (gateway === 'a') return { text: 'Then this.', calls: [], hold: new Promise(() => {}) };
  if (calls.length === 1) return { calls: [{ name: 'record', input: { ref: 'c' } }] };
  return { calls: [{ name: 'complete_task', input: { result: calls.map(({ result }) => result).join(' ') } }] };
}

describe.each(twoGateways)('a task whose gateway is killed on $kind', ({ kind }) => {
  test('[C12] is finished by another gateway, each effect once, and clients that wait or retry with their key get the answer', async () => {
    await using crew = await openCrew({ kind, leaseMs: 1_000, decide: nextStep });
    const { url } = crew.first;
    const plain = post(url).then(
      () => 'answered',
      () => 'cut off',
    );
    const isAskedAgain = (): boolean => crew.site.model.requests.some(({ calls }) => calls.length === 1);
    await until('the model is asked for what comes after the charge', isAskedAgain);
    const follower = readEventStream(await post(url, { isStream: true }));
    let seen = await follower.next();
    while (seen !== undefined && seen.event !== 'tool-call.complete') seen = await follower.next();
    // Another client waits at the gateway that does not run it.
    const elsewhere = post(crew.named('b').url);
    const { url: livingUrl } = await crew.crash('a');
    expect(await plain).toBe('cut off');
    const resumed = readEventStream(
      await post(livingUrl, {
        isStream: true,
        ...(follower.lastEventId === undefined ? {} : { lastEventId: follower.lastEventId }),
      }),
    );
    const retried = (await (await post(livingUrl)).json()) as { run_id: string };
    expect(retried).toMatchObject({
      stop: { by: 'terminating' },
      response: expect.stringContaining('Task completed: '),
    });
    expect(await (await elsewhere).json()).toEqual(retried);
    const events = await resumed.rest();
    expect(events.at(-1)).toMatchObject({ event: 'done', data: retried });
    const effects = await crew.site.effects();
    expect(effects.map(({ toolName }) => toolName)).toEqual(['charge', 'record']);
    const run = await fetch(`${livingUrl}/api/runs/${retried.run_id}`, {
      headers: { authorization: `Bearer ${SECRET_KEY}` },
    });
    expect(await run.json()).toMatchObject({ status: 'completed', result: retried });
    expect(crew.site.model.problems).toEqual([]);
  });
});
