import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { nameOfCall } from '../../src/domain/calls/call-number.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { inboxOf, resultsOf, systemOf, textsOf } from '../support/requests.ts';
import { waitingOf } from '../support/waiting-of.ts';

describeWorlds('compaction', (open) => {
  test('[G14] over its budget is compacted after the run: the model’s summary replaces what was removed, and waiting calls can still be answered', async () => {
    const model = scriptedModel((request) => {
      if (systemOf(request).startsWith('You keep the memory')) return 'Ada likes blue.';
      const said = inboxOf(request)[0]?.data.text;
      const isUrgent = !JSON.stringify(request.prompt).includes('tool-call');
      return said === 'Ask me' && isUrgent ? { toolName: 'confirm' } : `Noted: ${'x'.repeat(1_500)}`;
    });
    const world = await open({ models: { default: model }, tools: { confirm: { executionType: 'space' } } });
    const { ada, bot, space } = await lobby(
      world,
      { tools: ['confirm'], limits: { consciousnessTokens: 1_500 } },
      { isIn: true },
    );
    for (const text of ['Ask me', 'I like blue', 'And more', 'And more still', 'And the last', 'One more']) {
      await world.say(space, ada, text);
      await world.idle();
    }
    const compactions = await world.store.db
      .selectFrom('transcript_entries')
      .select('seq')
      .where('thread_id', '=', bot)
      .where('kind', '=', 'compaction')
      .execute();
    expect(compactions.length).toBeGreaterThan(0);
    const pending = await waitingOf(world, bot);
    await answer(world.services, { ...pending, answer: { result: 'yes' }, by: { entityId: ada } });
    await world.idle();
    const last = model.requests.findLast((request) => !systemOf(request).startsWith('You keep')) as never as {
      prompt: never;
    };
    expect(textsOf(last.prompt).join('\n')).toContain('Ada likes blue.');
    expect(textsOf(last.prompt).filter((text) => text.includes('I like blue'))).toEqual([]);
    expect(inboxOf(last)[0]).toMatchObject({
      type: 'tool_result',
      data: { callId: nameOfCall(pending.callId), toolName: 'confirm', outcome: { status: 'ok', value: 'yes' } },
    });
    expect(resultsOf(last)).toMatchObject([{ toolName: 'confirm', text: expect.stringMatching(/^Pending as call /) }]);
  });
});
