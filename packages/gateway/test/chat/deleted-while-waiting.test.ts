import { expect, test } from 'vitest';
import { createConversation } from '../../src/domain/conversations/conversation.ts';
import { deleteConversation } from '../../src/domain/conversations/delete-conversation.ts';
import { deleteIdleConversation } from '../../src/domain/conversations/delete-idle-conversation.ts';
import { findAnswer } from '../../src/domain/conversations/run-answer.ts';
import type { ChatEvent } from '../../src/domain/inbox/inbox-event.ts';
import { newId } from '../../src/domain/new-id.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import { followTurn } from '../../src/runtime/chat/follow-turn.ts';
import { toTurn } from '../../src/transport/ui-message/find-turn.ts';
import { type Api, openApi, toRequest } from '../http/api.ts';
import { insertRun } from '../runs/rows.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';
import type { Database } from '../support/stores.ts';

const GONE = /^There is no run "[^"]+" any more: its conversation was deleted\.$/;

/** A body for each kind of request that waits for a run, and its response after the deletion. */
const REQUESTS = [
  { door: 'POST /chat', path: () => '/chat', body: (agent: string) => ({ agent, message: 'Hi' }) },
  {
    door: 'POST /v1/chat/completions',
    path: () => '/v1/chat/completions',
    body: (model: string) => ({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  },
  { door: 'POST /v1/responses', path: () => '/v1/responses', body: (model: string) => ({ model, input: 'Hi' }) },
];

const STREAMS = [
  {
    door: 'POST /chat',
    path: () => '/chat',
    body: (agent: string) => ({ agent, message: 'Hi' }),
    last: /event: error\ndata: \{"error":\{"code":"not_found","message":"[^}]*its conversation was deleted\."/,
  },
  {
    door: 'POST /v1/chat/completions',
    path: () => '/v1/chat/completions',
    body: (model: string) => ({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    last: /data: \{"error":\{"message":"[^}]*its conversation was deleted\."[^}]*"code":"not_found"/,
  },
  {
    door: 'POST /v1/responses',
    path: () => '/v1/responses',
    body: (model: string) => ({ model, stream: true, input: 'Hi' }),
    last: /its conversation was deleted\./,
  },
  {
    door: 'useChat',
    path: (agent: string) => `/api/agents/${agent}/chat`,
    body: () => ({ id: newId(), messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] }),
    last: /data: \{"type":"error","errorText":"This conversation was deleted\."\}\n\ndata: \{"type":"finish","finishReason":"error"\}/,
  },
];

/** No worker runs here, so requests stay queued until they are cancelled. Conversations of cancelled requests can be deleted. */
describeIdleWorld('callers that wait for a run of a deleted conversation', ({ world }) => {
  const openDoor = ({ sweepMs, heartbeatMs }: { sweepMs: number; heartbeatMs: number }): Promise<Api> =>
    openApi(undefined as unknown as Database, {
      services: world.with({ sweepMs }).services,
      registry: world.registry,
      heartbeatMs,
    });

  async function queuedRun(agentId: string): Promise<{ runId: string; contextId: string }> {
    const queued = world.store.db
      .selectFrom('inbox_events')
      .innerJoin('contexts', 'contexts.id', 'inbox_events.thread_id')
      .select(['inbox_events.run_id', 'contexts.id'])
      .where('contexts.agent_id', '=', agentId);
    await expect.poll(() => queued.execute(), { interval: 5 }).toHaveLength(1);
    const { run_id: runId, id: contextId } = await queued.executeTakeFirstOrThrow();
    return { runId: runId ?? '', contextId };
  }

  /** In one transaction, so that no reader sees the cancelled run. */
  const cancelAndDelete = ({ runId, contextId }: { runId: string; contextId: string }): Promise<unknown> =>
    world.in(async (tx) => {
      await requestCancel(tx, runId);
      await deleteIdleConversation(tx, contextId, { kind: 'key' });
    });

  /** The same without a notice to any process. */
  const deleteSilently = ({ runId, contextId }: { runId: string; contextId: string }): Promise<unknown> =>
    world.in(async (tx) => {
      await tx.db.updateTable('inbox_events').set({ status: 'dead' }).where('run_id', '=', runId).execute();
      await deleteIdleConversation(tx, contextId, { kind: 'key' });
    });

  const WAYS = [
    // Without polls and heartbeats the end of the run is enough.
    { how: 'as soon as the run ends', quick: { sweepMs: 1_000_000, heartbeatMs: 1_000_000 }, remove: cancelAndDelete },
    { how: 'also if the notice of the end is lost', quick: { sweepMs: 5, heartbeatMs: 25 }, remove: deleteSilently },
  ];

  for (const { how, quick, remove } of WAYS) {
    test.each(REQUESTS)(
      `$door answers 404 and says that the conversation was deleted, ${how}`,
      async ({ path, body }) => {
        const api = await openDoor(quick);
        const agent = await world.agent();
        const answer = api.call('POST', path(), { body: body(agent) });
        await remove(await queuedRun(agent));
        expect(await answer).toMatchObject({
          status: 404,
          body: { error: { code: 'not_found', message: expect.stringMatching(GONE) } },
        });
        api.app.stop();
      },
    );

    test.each(STREAMS)(`a stream of $door ends with the error, ${how}`, async ({ path, body, last }) => {
      const api = await openDoor(quick);
      const agent = await world.agent();
      const headers = { accept: 'text/event-stream' };
      const response = await api.app.fetch(
        toRequest('POST', path(agent), { body: body(agent), secret: api.key, headers }),
      );
      expect(response.status).toBe(200);
      await remove(await queuedRun(agent));
      const text = await response.text();
      expect(text).toMatch(last);
      expect(text).not.toContain('stream_interrupted');
      api.app.stop();
    });
  }

  test('a request does not wait for a run that does not exist', async () => {
    await expect(findAnswer(world.store.db, newId())).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(GONE),
    });
  });

  async function suspendedRun(): Promise<{ runId: string; contextId: string }> {
    const agentId = await world.agent();
    return await world.in(async (tx) => {
      const { id: contextId } = await createConversation(tx, { agentId });
      const stop = toJson({ reason: 'suspended' });
      return { contextId, runId: await insertRun(tx, { thread_id: contextId, status: 'completed', stop }) };
    });
  }

  test.each([
    ['with', () => {}],
    ['without', undefined],
  ])(
    'a turn that is followed until its calls are answered elsewhere, %s its events, ends with the error',
    async (_how, onEvent) => {
      const { services } = world.with({ sweepMs: 5 });
      const { runId, contextId } = await suspendedRun();
      const { signal } = new AbortController();
      const followed = followTurn(services, runId, { signal, onEvent, isAnsweredElsewhere: () => true });
      await world.in((tx) => deleteConversation(tx, contextId));
      await expect(followed).rejects.toMatchObject({ code: 'not_found', message: expect.stringMatching(GONE) });
    },
  );

  test('[S11] a page that answered a call does not wait for the run that consumes the answer', async () => {
    const { services } = world;
    const { runId, contextId } = await suspendedRun();
    const call = {
      callId: newId(),
      runId,
      agentId: 'a',
      toolName: 't',
      kind: 'result' as const,
      input: {},
      createdAt: 1,
    };
    const accepted = {
      kind: 'continuation' as const,
      isRepeat: false,
      contextId,
      messageId: 'm',
      calls: [{ ...call, status: 'resolved' as const }],
    };
    const turn = toTurn(services, accepted, new AbortController().signal);
    await world.in((tx) => deleteConversation(tx, contextId));
    await expect(turn).rejects.toMatchObject({ code: 'not_found', message: expect.stringMatching(GONE) });
  });

  test('[S11] a page may send a message again that was cancelled before its run began', async () => {
    const api = await openDoor({ sweepMs: 1_000_000, heartbeatMs: 1_000_000 });
    const agent = await world.agent();
    const chat = { id: newId(), messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] };
    const ask = (body: object): Promise<Response> =>
      Promise.resolve(api.app.fetch(toRequest('POST', `/api/agents/${agent}/chat`, { body, secret: api.key })));
    const cancelled = await ask(chat);
    const { runId, contextId } = await queuedRun(agent);
    await api.done('POST', `/api/runs/${runId}/cancel`);
    expect(await cancelled.text()).toContain('"type":"abort"');
    const again = await ask({ ...chat, trigger: 'regenerate-message' });
    const [, second, ...others] = await world.inbox(contextId);
    expect(others).toEqual([]);
    expect(second?.event).toMatchObject({ type: 'chat', messages: [{ content: [{ type: 'text', text: 'Hi' }] }] });
    const secondId = (second?.event as ChatEvent | undefined)?.runId;
    await api.done('POST', `/api/runs/${secondId}/cancel`);
    expect(await again.text()).toContain(`"messageId":"${secondId}"`);
    api.app.stop();
  });
});
