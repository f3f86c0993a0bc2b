import { dispatchCall, type Outcome } from '@lastcall/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { toJson } from '../../src/ports/store/schema/json.ts';
import { readOutputTool } from '../../src/runtime/tools/read-output.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { embedded } from '../support/stores.ts';

describe.each(embedded)('read_output on $kind', ({ create }) => {
  const database = forAllTests(create);
  const store = forAllTests(() => database.open());
  beforeAll(async () => {
    await store.transaction(async (tx) => {
      await tx.db
        .insertInto('runs')
        .values({
          id: 'run',
          thread_id: 'agent',
          turn_id: 'run',
          trigger: '[]',
          status: 'completed',
          stop: null,
          number: 1,
          usage: null,
          epoch: 1,
          config_version: 1,
          attempts: 1,
          taken_seq: 1,
          owner: null,
          attempt: 1,
          retry_of: null,
          takeovers: null,
          cancel_requested_at: null,
          active_in: null,
          created_at: 0,
          ended_at: 0,
        })
        .execute();
      await tx.db
        .insertInto('calls')
        .values([
          call('long', { status: 'ok', value: 1, text: 'abcdefghij'.repeat(1_000) }),
          call('emoji', { status: 'error', code: 'execution', message: 'x', text: 'a😀b' }),
          call('empty', { status: 'ok', value: '', text: '' }),
          call('open', undefined),
        ])
        .execute();
    });
  });

  const call = (id: string, outcome: Outcome | undefined) => ({
    id,
    thread_id: 'agent',
    agent_id: 'agent',
    run_id: 'run',
    step: 1,
    index: 0,
    tool_name: 'search',
    input: '{}',
    status: 'settled' as const,
    outcome: outcome === undefined ? null : toJson(outcome),
    idempotency_key: id,
    provider_call_id: null,
    created_at: 0,
    settled_at: 0,
  });
  const read = async (input: object, threadId = 'agent'): Promise<Outcome> => {
    const tools = { read_output: readOutputTool(() => ({ read: (work) => work(store.db), threadId })) };
    return (await dispatchCall({ tools, call: { toolName: 'read_output', input } })).outcome;
  };

  test('[G14] an output is read back completely, page by page', async () => {
    const first = await read({ ref: 'long' });
    expect(first.status).toBe('ok');
    expect(first.text).toBe(`${'abcdefghij'.repeat(800)}\n[2000 more characters: read on with offset 8000]`);
    const second = await read({ ref: 'long', offset: 8_000 });
    expect(second.text).toBe('abcdefghij'.repeat(200));
    const part = await read({ ref: 'long', offset: 3, limit: 4 });
    expect(part.text).toBe('defg\n[9993 more characters: read on with offset 7]');
  });

  test('a page never ends within a character', async () => {
    expect((await read({ ref: 'emoji', limit: 2 })).text).toBe('a😀\n[1 more characters: read on with offset 3]');
  });

  test('an empty output is read as empty', async () => {
    expect(await read({ ref: 'empty' })).toMatchObject({ status: 'ok', text: '' });
  });

  test('an output that does not exist, is not settled, or belongs to another agent, and a page beyond the end, are errors', async () => {
    expect(await read({ ref: 'none' })).toMatchObject({ status: 'error', message: expect.stringContaining('"none"') });
    expect(await read({ ref: 'open' })).toMatchObject({ status: 'error' });
    expect(await read({ ref: 'long' }, 'another')).toMatchObject({ status: 'error', code: 'execution' });
    expect((await read({ ref: 'long', offset: 10_000 })).text).toContain('below 10000');
    expect(await read({ ref: 'long', limit: 1_000_000 })).toMatchObject({ status: 'error', code: 'invalid_input' });
  });
});
