import type { LanguageModelV4 } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { type ScriptedCall, scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { describeWorlds, type OpenWorld } from '../support/describe-worlds.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import type { World } from '../support/world.ts';

const input = { at: 'the sea, "far" – 😀' };
const look = tool({
  description: 'Looks, and tells how far it is.',
  inputSchema: z.object({ at: z.string() }),
  async *execute({ at }) {
    yield 'half-way';
    yield `saw ${at}`;
  },
});
const danger = tool({
  description: 'Does it.',
  inputSchema: z.object({ at: z.string() }),
  approval: true,
  execute: () => 1,
});
const confirm = { executionType: 'space', inputSchema: { type: 'object', properties: { at: {} } } } as const;

/** Two spaces, the agent in the first; a model that asks for these calls, with the second space's id where they enter it. */
async function twoSpaces(
  open: OpenWorld,
  calls: readonly ScriptedCall[],
  {
    config = {},
    wrap = (model) => model,
  }: { config?: object; wrap?: (model: LanguageModelV4) => LanguageModelV4 } = {},
): Promise<{ world: World; here: string; there: string; go(): Promise<void> }> {
  const ids: { there?: string } = {};
  const model = scriptedModel((request) =>
    resultsOf(request).length > 0
      ? 'Done.'
      : calls.map((call) => (call.toolName === 'enter_space' ? { input: { spaceId: ids.there }, ...call } : call)),
  );
  const world = await open({ models: { default: wrap(model) }, tools: { look, danger, confirm } });
  const {
    ada,
    bot,
    space: here,
  } = await lobby(world, { tools: ['look', 'danger', 'confirm'], ...config }, { isIn: true });
  const there = await world.space('Other', [ada, bot]);
  ids.there = there;
  return {
    world,
    here,
    there,
    async go() {
      await world.say(here, ada, 'Go there');
      await world.idle();
    },
  };
}

interface Shown {
  readonly type: string;
  readonly payload: { readonly callId?: string; readonly toolName?: string; readonly delta?: string };
}

async function callsIn(world: World, space: string): Promise<Shown[]> {
  const events = (await world.events(spaceStream(space))) as readonly Shown[];
  return events.filter(({ type }) => type.startsWith('tool-'));
}

/** The number of adjacent deltas depends on the transactions, so they are joined. */
function courseOf(events: readonly Shown[]): string[] {
  return events
    .map(({ type }) => type)
    .filter((type, index, all) => type !== 'tool-input-delta' || all[index - 1] !== type);
}

function writtenIn(events: readonly Shown[]): string {
  return events.flatMap(({ type, payload }) => (type === 'tool-input-delta' ? [payload.delta] : [])).join('');
}

const WHOLE = ['tool-call.start', 'tool-input-delta', 'tool-call.progress', 'tool-call.progress', 'tool-call.complete'];

describeWorlds('a visible call after enter_space in one reply', (open) => {
  test('[G20] [G47] a visible call after enter_space is shown in the new space only, from its start, with its whole input before anything else', async () => {
    const { world, here, there, go } = await twoSpaces(open, [
      { toolName: 'enter_space' },
      { toolName: 'look', input },
    ]);
    await go();
    const shown = await callsIn(world, there);
    expect(courseOf(shown)).toEqual(WHOLE);
    expect(writtenIn(shown)).toBe(JSON.stringify(input));
    expect(new Set(shown.map(({ payload }) => payload.callId)).size).toBe(1);
    expect(await callsIn(world, here)).toEqual([]);
  });

  test('[G20] [G47] a visible call before enter_space is shown at once where the agent was, and each has its own input', async () => {
    const { world, here, there, go } = await twoSpaces(open, [
      { toolName: 'look', input: { at: 'first' } },
      { toolName: 'enter_space' },
      { toolName: 'look', input: { at: 'second' } },
      { toolName: 'look', input: { at: 'third' } },
    ]);
    await go();
    const shownHere = await callsIn(world, here);
    expect(courseOf(shownHere)).toEqual(WHOLE);
    expect(writtenIn(shownHere)).toBe('{"at":"first"}');
    const shownThere = [...Map.groupBy(await callsIn(world, there), ({ payload }) => payload.callId).values()];
    expect(shownThere.map(courseOf)).toEqual([WHOLE, WHOLE]);
    expect(shownThere.map(writtenIn)).toEqual(['{"at":"second"}', '{"at":"third"}']);
  });

  test('[G20] a visible call after enter_space starts in the old space if entering fails', async () => {
    const { world, here, there, go } = await twoSpaces(open, [
      { toolName: 'enter_space', input: { spaceId: 'nowhere' } },
      { toolName: 'look', input },
    ]);
    await go();
    const shown = await callsIn(world, here);
    expect(courseOf(shown)).toEqual(WHOLE);
    expect(writtenIn(shown)).toBe(JSON.stringify(input));
    expect(await callsIn(world, there)).toEqual([]);
  });

  test('[G20] a visible call after enter_space that never runs is shown nowhere, nor is a message', async () => {
    const { world, here, there, go } = await twoSpaces(
      open,
      [
        { toolName: 'enter_space', input: { spaceId: 'nowhere' } },
        { toolName: 'look', input },
        { toolName: 'send_message', input: { text: 'Never.' } },
      ],
      { config: { batch: { onError: 'cancel-rest' } } },
    );
    await go();
    for (const space of [here, there]) {
      expect(await callsIn(world, space)).toEqual([]);
      expect(JSON.stringify(await world.events(spaceStream(space)))).not.toContain('Never.');
    }
  });

  test('[G20] a visible call with invalid input after enter_space is shown nowhere', async () => {
    const { world, here, there, go } = await twoSpaces(open, [
      { toolName: 'enter_space' },
      { toolName: 'look', input: { at: 7 } },
    ]);
    await go();
    expect([...(await callsIn(world, here)), ...(await callsIn(world, there))]).toEqual([]);
  });

  test('[G47] a visible call after enter_space that waits for a person shows its start, its input and then what it waits for', async () => {
    const { world, there, go } = await twoSpaces(open, [
      { toolName: 'enter_space' },
      { toolName: 'danger', input },
      { toolName: 'confirm', input },
    ]);
    await go();
    const shown = [...Map.groupBy(await callsIn(world, there), ({ payload }) => payload.callId).values()];
    const waiting = ['tool-call.start', 'tool-input-delta', 'tool-call.requires-action'];
    expect(shown.map(courseOf)).toEqual([waiting, waiting]);
    expect(shown.map(writtenIn)).toEqual([JSON.stringify(input), JSON.stringify(input)]);
  });
});

describeWorlds('a visible call of a model that does not stream what it writes', (open) => {
  test('[G47] a visible call that is not streamed shows its start, its whole input, its progress and one end', async () => {
    const { world, here, go } = await twoSpaces(open, [{ toolName: 'look', input }], { wrap: withoutPieces });
    await go();
    const shown = await callsIn(world, here);
    expect(courseOf(shown)).toEqual(WHOLE);
    expect(writtenIn(shown)).toBe(JSON.stringify(input));
  });
});

/** Sends calls as a whole, as some providers do. */
function withoutPieces(model: LanguageModelV4): LanguageModelV4 {
  return {
    ...model,
    async doStream(options) {
      const { stream, ...rest } = await model.doStream(options);
      const whole = new TransformStream({
        transform(part, controller) {
          if (!part.type.startsWith('tool-input-')) controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(whole) };
    },
  };
}
