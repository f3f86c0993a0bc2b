import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type Answer, fail, tool } from '@lastcall/core';
import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { shortCall } from '../../src/domain/calls/call-number.ts';
import { expireDue } from '../../src/domain/calls/expire-due.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { inboxOf, resultsOf, systemOf } from '../support/requests.ts';
import { embedded } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import { openWorld, type World } from '../support/world.ts';

const inputSchema = z.object({ amount: z.number().optional() });
const expiresInMs = 60_000;
const tools = {
  pay: {
    tool: tool({
      description: 'Pays.',
      inputSchema,
      approval: true,
      execute: ({ amount = 1 }) => (amount > 100 ? fail('The bank refused.') : `Paid ${amount}.`),
    }),
    expiresInMs,
  },
  confirm: { executionType: 'space', expiresInMs },
  report: { executionType: 'external', expiresInMs },
  helper: { executionType: 'gateway', execution: { agentConfig: { instructions: 'You help.', tools: ['pay'] } } },
} as const;

interface Case {
  readonly toolName: keyof typeof tools;
  /** Undefined: the call is not answered, and expires. */
  readonly given: Answer | undefined;
  /** The final text in the view. */
  readonly outcome: RegExp;
}

const cases: readonly (readonly [string, Case])[] = [
  ['that is approved', { toolName: 'pay', given: { approve: true }, outcome: /Paid 5\./ }],
  ['that is approved edited', { toolName: 'pay', given: { approve: true, input: { amount: 7 } }, outcome: /Paid 7\./ }],
  [
    'that is approved and fails',
    { toolName: 'pay', given: { approve: true, input: { amount: 700 } }, outcome: /The bank refused\./ },
  ],
  ['that is denied', { toolName: 'pay', given: { deny: 'Too much.' }, outcome: /was denied: Too much\./ }],
  ['that waits for approval and expires', { toolName: 'pay', given: undefined, outcome: /No one answered in time\./ }],
  ['of a space tool that is answered', { toolName: 'confirm', given: { result: 'yes' }, outcome: /yes/ }],
  ['of a space tool that expires', { toolName: 'confirm', given: undefined, outcome: /No one answered in time\./ }],
  [
    'of a sub-agent whose call is approved',
    { toolName: 'helper', given: { result: { approve: true } }, outcome: /The helper paid 5\./ },
  ],
  ['of a sub-agent whose call expires', { toolName: 'helper', given: undefined, outcome: /No one answered in time\./ }],
  ['of an external tool that fails', { toolName: 'report', given: { error: 'No paper.' }, outcome: /No paper\./ }],
];

/** Phrases that must not be in the text of a call that has an outcome. */
const UNTRUE =
  /not run|has not|waits for|is waiting|is pending|"status":"pending"(?!.*(when this was written|became pending))/i;

describe.each(embedded)('the provisional result of a call on $kind', ({ create }) => {
  const database = forAllTests(create);
  let world: World | undefined;
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });

  const openWith = async (model: ScriptedModel, agentLimits: object): Promise<World> => {
    world = await openWorld({ database, models: { default: model }, tools, agentLimits });
    await world.start();
    return world;
  };

  describe.each([
    ['whole', {}],
    ['compacted', { consciousnessTokens: 900 }],
  ])('in a transcript that is %s', (_how, agentLimits) => {
    test.each(cases)('[G60] %s has a true text before and after the outcome and a restart', async (_what, given) => {
      const { toolName, outcome } = given;
      const model = scriptedModel((request) => {
        if (systemOf(request).startsWith('You keep the memory')) return new Error('No summary today.');
        if (systemOf(request).startsWith('You help.'))
          return resultsOf(request).length === 0 ? { toolName: 'pay', input: { amount: 5 } } : 'The helper paid 5.';
        const isAsked = inboxOf(request)[0]?.data.text === 'Ask' && resultsOf(request).length === 0;
        return isAsked ? { toolName, ...(toolName === 'pay' ? { input: { amount: 5 } } : {}) } : 'Noted.';
      });
      const first = await openWith(model, agentLimits);
      const { ada, bot, space } = await lobby(first, { tools: [toolName] }, { isIn: true });
      await first.say(space, ada, 'Ask');
      await first.idle();
      const { callId, runId } = await waitingOf(first, bot);
      const provisional = resultsOf(last(model)).find(({ text }) => text.includes(shortCall(callId)))?.text ?? '';
      expect(provisional).toMatch(/when this was written|became pending/);
      expect(provisional).toContain(shortCall(callId));
      expect(provisional).toMatch(/outcome comes later/);

      if (given.given === undefined) await expireDue(first.services, { now: Date.now() + expiresInMs + 1 });
      else await answer(first.services, { runId, callId, answer: given.given, by: { key: true } });
      await first.idle();
      expect(textOf(last(model))).toMatch(outcome);
      expect(textOf(last(model))).not.toMatch(UNTRUE);

      await first.stop();
      const second = await openWith(model, agentLimits);
      for (const text of ['More', 'And more']) {
        await second.say(space, ada, `${text} ${'x'.repeat(1_500)}`);
        await second.idle();
        expect(textOf(last(model))).not.toMatch(UNTRUE);
      }
      expect(textOf(last(model))).toMatch(outcome);
      expect((await compactions(second, bot)) > 0).toBe('consciousnessTokens' in agentLimits);
    });
  });

  test('[G60] [G16] that was approved is true after its run was cancelled while the tool ran', async () => {
    const inside = Promise.withResolvers<void>();
    const slow = tool({
      description: 'Takes its time.',
      inputSchema: z.object({}),
      approval: true,
      effects: 'external',
      async execute(_input, ctx) {
        inside.resolve();
        await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve));
      },
    });
    const model = scriptedModel((_request, asked) => (asked === 1 ? { toolName: 'slow' } : 'Noted.'));
    const one = await openWorld({ database, models: { default: model }, tools: { slow } });
    world = one;
    await one.start();
    const { ada, bot, space } = await lobby(one, { tools: ['slow'] }, { isIn: true });
    await one.say(space, ada, 'Ask');
    await one.idle();
    const { callId, runId } = await waitingOf(one, bot);
    await answer(one.services, { runId, callId, answer: { approve: true }, by: { key: true } });
    await inside.promise;
    const running = await one.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .where('status', '=', 'running')
      .executeTakeFirstOrThrow();
    await one.store.transaction((tx) => requestCancel(tx, running.id));
    await one.idle();
    await one.say(space, ada, 'And?');
    await one.idle();
    expect(textOf(last(model))).toContain(`The answer to ${shortCall(callId)}`);
    expect(textOf(last(model))).not.toMatch(UNTRUE);
  });
});

async function compactions({ store }: World, agentId: string): Promise<number> {
  const rows = store.db.selectFrom('transcript_entries').select('seq').where('thread_id', '=', agentId);
  return (await rows.where('kind', '=', 'compaction').execute()).length;
}

/** The last request to the model in a run. */
function last(model: ScriptedModel): LanguageModelV4CallOptions {
  const asked = model.requests.findLast((request) => !systemOf(request).startsWith('You keep the memory'));
  if (asked === undefined) throw new Error('The model was not asked.');
  return asked;
}

/** Everything except the instructions, which are general. */
function textOf({ prompt }: LanguageModelV4CallOptions): string {
  return JSON.stringify(prompt.slice(1)).replaceAll('\\"', '"');
}
