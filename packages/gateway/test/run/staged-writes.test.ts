import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { checkTools } from '../../src/config/registered-tool.ts';
import { ApiError } from '../../src/domain/api-error.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { StagedWriteRefused } from '../../src/runtime/journal/staged-write-refused.ts';
import { openRun } from '../../src/runtime/loops/open-run.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { neverCancelled } from '../support/never-cancelled.ts';
import { databases } from '../support/stores.ts';
import { openWorld } from '../support/world.ts';

describe.each(databases)('a staged write on $kind', ({ create }) => {
  const database = forAllTests(create);
  const world = forAllTests(() => openWorld({ database, models: {} }));

  /** The journal of a run whose model has just asked for two calls. */
  async function openJournal() {
    const registered = checkTools({}, ['tools']);
    if (!registered.ok) throw new Error('The tools are wrong.');
    const model = scriptedModel([]);
    const registry = { tools: registered.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() };
    const { ada, bot, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Go');
    const taking = { owner: 'me', isUrgent: false, transcriptCache: new TranscriptCache() };
    const taken = await claimNextRun(world.services, registry, bot, taking);
    if (taken === undefined) throw new Error('There was nothing to do.');
    const abort = neverCancelled();
    const { run } = taken;
    const { journal, context } = openRun({ services: world.services, registry, run, abort });
    const ids = ['plain', 'staged'].map((name) => `${run.runId}-${name}`) as [string, string];
    const calls = ids.map((callId) => ({ callId, toolName: 'set_memories', input: '{}' }));
    await journal.append([
      {
        kind: 'reply',
        step: 1,
        content: calls.map(({ callId, toolName }) => ({ type: 'tool-call', toolCallId: callId, toolName, input: {} })),
        calls,
        text: '',
        finishReason: 'tool-calls',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      },
    ]);
    const settle = (callId: string) =>
      journal.settle(
        {
          kind: 'settled',
          settlement: {
            callId,
            toolName: 'set_memories',
            input: {},
            outcome: { status: 'ok', value: 1, text: '1' },
            startedAt: 0,
            endedAt: 0,
          },
        },
        { events: [] },
      );
    const stored = async () => {
      const rows = await world.store.db
        .selectFrom('calls')
        .select(['id', 'status'])
        .where('run_id', '=', run.runId)
        .orderBy('index')
        .execute();
      return rows.map(({ id, status }) => [id.slice(run.runId.length + 1), status]);
    };
    return { journal, context, ids, settle, stored };
  }

  test('a staged write that is refused undoes only its own call: the end of another call at the same moment stays', async () => {
    const { journal, context, ids, settle, stored } = await openJournal();
    const [plain, staged] = ids;
    const refuse = (): never => {
      throw new ApiError('not_found', 'The memory was deleted meanwhile.');
    };
    context.stage({ toolCallId: staged, attempt: 1 } as never, async () => refuse(), []);
    // Both end in one tick, so both would be written together.
    expect(settle(plain)).toBeUndefined();
    await expect(settle(staged)).rejects.toBeInstanceOf(StagedWriteRefused);
    await journal.close();
    expect(await stored()).toEqual([
      ['plain', 'settled'],
      ['staged', 'planned'],
    ]);
  });
});
