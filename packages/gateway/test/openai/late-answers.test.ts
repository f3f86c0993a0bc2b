import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { describeOpenAi } from './openai-gateway.ts';

const locate = { type: 'function' as const, function: { name: 'locate', parameters: { type: 'object' } } };
const user = (content: string) => ({ role: 'user' as const, content });

describeOpenAi('late answers to the tools of callers', (open) => {
  test('[G32] an answer after the call expired gets 410, and is kept for operators as the message says', async () => {
    const model = scriptedModel([[{ toolName: 'locate', input: {} }], 'I do not know.']);
    const { client, world } = await open({ models: { default: model } });
    const agent = await world.agent('Finder');
    const asked = await client.chat.completions.create({ model: agent, messages: [user('Where?')], tools: [locate] });
    const message = asked.choices[0]?.message;
    const callId = message?.tool_calls?.[0]?.id ?? '';
    await world.in(({ db }) => db.updateTable('calls').set({ expires_at: 1 }).where('id', '=', callId).execute());
    const messages = [
      user('Where?'),
      message as never,
      { role: 'tool' as const, tool_call_id: callId, content: 'Ulm' },
    ];
    const refused = await client.chat.completions.create({ model: agent, messages, tools: [locate] }).catch((e) => e);
    expect([refused.status, refused.code]).toEqual([410, 'expired']);
    expect(refused.message).toContain('stored for operators');
    const row = await world.store.db
      .selectFrom('calls')
      .select('late_answers')
      .where('id', '=', callId)
      .executeTakeFirstOrThrow();
    expect(row.late_answers).toContain('Ulm');
  });
});
