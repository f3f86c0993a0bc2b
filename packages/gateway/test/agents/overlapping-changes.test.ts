import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { pauseAgent, resumeAgent } from '../../src/domain/agents/pause-agent.ts';
import { updateAgent } from '../../src/domain/agents/update-agent.ts';
import type { Tx } from '../../src/ports/store/store.ts';
import { claimNextRun } from '../../src/runtime/claim/next-run.ts';
import { TranscriptCache } from '../../src/runtime/claim/transcript-cache.ts';
import { overlap } from '../spaces/overlap.ts';
import { forAllTests, forEachTest } from '../support/for-all-tests.ts';
import { holdLock, overlapping } from '../support/held-lock.ts';
import { lobby } from '../support/lobby.ts';
import { openWorld, type World } from '../support/world.ts';

/** The worker is not started, so only the test claims the agent's thread. */
describe.each(overlapping)('changes of an agent whose run is about to begin on $kind', ({ create }) => {
  const database = forAllTests(create);
  const models = { default: scriptedModel(() => 'Done.') };
  const world = forEachTest(() => openWorld({ database, models }));
  const other = forEachTest(() => openWorld({ database, models }));

  const claim = ({ services, registry }: World, agentId: string) =>
    claimNextRun(services, registry, agentId, {
      owner: 'test',
      isUrgent: false,
      transcriptCache: new TranscriptCache(),
    });

  const runsOf = (agentId: string) =>
    world.store.db
      .selectFrom('runs')
      .select(['id', 'config_version'])
      .where('thread_id', '=', agentId)
      .orderBy('id')
      .execute();

  /** Requests the change when the run has read the agent but is not committed. Returns the runs at the time of the response. */
  const changeWhileRunBegins = async (agentId: string, change: (tx: Tx) => Promise<unknown>) => {
    const held = await holdLock(database, 'select id from inbox_events where thread_id = $1 for update', [agentId]);
    const woken = claim(world, agentId);
    await held.waitedFor();
    const answered = other.store.transaction(change).then(() => runsOf(agentId));
    await held.waitedFor({ by: 2, orDone: answered });
    await held.release();
    await woken;
    return await answered;
  };

  test('[G16] no run begins after a pause was answered', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Hi');
    const runs = await changeWhileRunBegins(bot, (tx) => pauseAgent(tx, bot));
    expect(await runsOf(bot)).toEqual(runs);
  });

  test('[G15] no run begins with the old configuration after a change was answered', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.say(space, ada, 'Hi');
    const runs = await changeWhileRunBegins(bot, (tx) =>
      updateAgent(tx, { agentId: bot, config: { instructions: 'Be kind.' } }),
    );
    expect((await runsOf(bot)).filter(({ config_version }) => config_version === 1)).toEqual(runs);
  });

  test('[G16] a message that arrives while the agent is resumed wakes it', async () => {
    const { ada, bot, space } = await lobby(world);
    await world.store.transaction((tx) => pauseAgent(tx, bot));
    const resume = (hold: () => Promise<void>) =>
      world.store.transaction(async (tx) => {
        await resumeAgent(tx, bot);
        await hold();
      });
    await overlap(other.store, resume, async () => {
      await other.say(space, ada, 'Hi');
      await claim(other, bot);
    });
    expect(await runsOf(bot)).toHaveLength(1);
  });
});
