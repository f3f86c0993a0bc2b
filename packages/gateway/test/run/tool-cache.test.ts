import { type ToolContext, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep } from '../support/requests.ts';

const inputSchema = z.object({ city: z.string() });

describeWorlds('the cache of an agent', (open) => {
  /** Calls the tools in each of two runs, and returns the cities that each tool was run with. */
  const runTwice = async (cities: readonly string[], cache: object) => {
    const ran: Record<string, string[]> = { look: [], act: [], fail: [] };
    const make = (name: string, effects: 'none' | 'external', isFailing = false) =>
      tool({
        description: name,
        inputSchema,
        effects,
        execute: ({ city }) => {
          ran[name]?.push(city);
          if (isFailing) throw new Error('broken');
          return city;
        },
      });
    const tools = { look: make('look', 'none'), act: make('act', 'external'), fail: make('fail', 'none', true) };
    const calls = cities.flatMap((city) => Object.keys(tools).map((toolName) => ({ toolName, input: { city } })));
    const model = scriptedModel((request) => (isFirstStep(request) ? calls : 'Done.'));
    const world = await open({ models: { default: model }, tools });
    const { ada, space } = await lobby(world, { tools: Object.keys(tools), middleware: [{ cache }] });
    for (const text of ['One', 'Two']) {
      await world.say(space, ada, text);
      await world.idle();
    }
    return ran;
  };

  test('[X21] the cache of an agent is kept after a run, only for tools without effects, and without errors', async () => {
    const ran = await runTwice(['Rome'], { ttlMs: 60_000 });
    expect(ran).toEqual({ look: ['Rome'], act: ['Rome', 'Rome'], fail: ['Rome', 'Rome'] });
  });

  test('the cache of an agent keeps as many results as its maxEntries says', async () => {
    const { look } = await runTwice(['Rome', 'Oslo'], { ttlMs: 60_000, maxEntries: 1 });
    expect(look).toEqual(['Rome', 'Oslo', 'Rome', 'Oslo']);
  });
});

describe('cached results', () => {
  const caches = (now = { ms: 0 }) => new ToolCaches({ clock: { now: () => now.ms } });
  const owner = { agentId: 'a', ttlMs: 10, isWithoutEffects: () => true };
  const ask = async (from: ToolCaches, input: unknown, more: object = {}): Promise<unknown> => {
    let hasRun = false;
    const next = async (): Promise<unknown> => {
      hasRun = true;
      return 'value';
    };
    const call = { callId: 'c', toolName: 't', input };
    await from.middleware({ ...owner, ...more }).call?.(next, call, {} as ToolContext);
    return hasRun ? 'ran' : 'kept';
  };

  test('[X21] cached results are per agent, and found by the same input with its keys in any order', async () => {
    const kept = caches();
    expect(await ask(kept, { a: 1, b: { c: 2, d: 3 } })).toBe('ran');
    expect(await ask(kept, { b: { d: 3, c: 2 }, a: 1 })).toBe('kept');
    expect(await ask(kept, { a: 1, b: { c: 2, d: 3 } }, { agentId: 'b' })).toBe('ran');
    expect(await ask(kept, { a: 1, b: { c: 2, d: 4 } })).toBe('ran');
  });

  test('[X21] cached results are dropped after their time', async () => {
    const now = { ms: 1 };
    const kept = caches(now);
    await ask(kept, {});
    now.ms += 10;
    expect(await ask(kept, {})).toBe('kept');
    now.ms += 1;
    expect(await ask(kept, {})).toBe('ran');
  });
});
