import { resource, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { tryTool } from '../../src/runtime/toolset/try-tool.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep, resultsOf } from '../support/requests.ts';

/** A tool whose calls share a resource of the run, and have one each. `run`: what the call does then. */
function counted(run: (signal: AbortSignal) => unknown = () => 'used') {
  const open = { run: new Set<number>(), call: new Set<number>() };
  const made = { run: 0, call: 0 };
  const counting = (scope: 'singleton' | 'call', of: 'run' | 'call') =>
    resource(of, {
      scope,
      create() {
        open[of].add(++made[of]);
        return made[of];
      },
      dispose: (number: number) => void open[of].delete(number),
    });
  const [ofRun, ofCall] = [counting('singleton', 'run'), counting('call', 'call')];
  const use = tool({
    description: 'Uses resources.',
    inputSchema: z.object({}),
    execute(_input, { resources, abortSignal }) {
      resources.get(ofCall);
      resources.get(ofRun);
      return run(abortSignal);
    },
  });
  return { use, open, made };
}

/** Calls the tool twice in each run. */
const calling = () =>
  scriptedModel((request) =>
    resultsOf(request).length % 2 === 0 && isFirstStep(request) ? [{ toolName: 'use' }, { toolName: 'use' }] : 'Done.',
  );

describeWorlds('resources', (open) => {
  test('[A10] 100 runs open one each, share it among their calls, and leave none open', async () => {
    const { use, open: left, made } = counted();
    const world = await open({ models: { default: calling() }, tools: { use } });
    const halls = await Promise.all(Array.from({ length: 10 }, () => lobby(world, { tools: ['use'] }, { isIn: true })));
    for (let run = 0; run < 10; run++) {
      for (const { ada, space } of halls) await world.say(space, ada, 'Go');
      await world.idle();
    }
    expect(made).toEqual({ run: 100, call: 200 });
    expect(left).toEqual({ run: new Set(), call: new Set() });
  });

  test('[A10] a run that fails closes what its calls opened', async () => {
    const { use, open: left, made } = counted();
    const model = scriptedModel((request) =>
      resultsOf(request).length === 0 ? { toolName: 'use' } : new Error('overloaded'),
    );
    const world = await open({ models: { default: model }, tools: { use }, agentLimits: { maxAttempts: 1 } });
    const { ada, space } = await lobby(world, { tools: ['use'] }, { isIn: true });
    await world.say(space, ada, 'Go');
    await world.idle();
    expect([made.run, left.run.size]).toEqual([1, 0]);
  });

  test('[A10] so does one that is cancelled, and one that a stop interrupts in the middle of a call', async () => {
    let begun = Promise.withResolvers<void>();
    let calls = 0;
    const {
      use,
      open: left,
      made,
    } = counted((signal) => {
      // The resource that the first call of a run opened stays open while the second one runs.
      if (++calls % 2 === 1) return 'used';
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const world = await open({
      models: { default: scriptedModel(() => ({ toolName: 'use' })) },
      tools: { use },
      limits: { graceMs: 10 },
    });
    const { ada, bot, space } = await lobby(world, { tools: ['use'] }, { isIn: true });
    await world.say(space, ada, 'Go');
    await begun.promise;
    const { id } = await world.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .executeTakeFirstOrThrow();
    await world.in((tx) => requestCancel(tx, id));
    await world.idle();
    expect([made.run, left.run.size]).toEqual([1, 0]);
    begun = Promise.withResolvers();
    await world.say(space, ada, 'Go');
    await begun.promise;
    expect([left.run.size, left.call.size]).toEqual([1, 1]);
    await world.stop();
    expect([made.run, left.run.size, left.call.size]).toEqual([2, 0, 0]);
  });

  test('[A10] a test call of a tool closes what it opened', async () => {
    const { use, open: left, made } = counted();
    const world = await open({ models: { default: calling() }, tools: { use } });
    const trial = { input: {}, approve: true, signal: new AbortController().signal };
    const one = world.registry.tools.use;
    if (one === undefined) throw new Error('The tool is not there.');
    await tryTool(world.services, world.registry, { ...trial, tool: one });
    expect([made.run, left.run.size]).toEqual([1, 0]);
  });
});
