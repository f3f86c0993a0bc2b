import { expect, test } from 'vitest';
import { z } from 'zod';
import type { FinishedStep } from '../../src/contract/turn-settings.ts';
import { createSession, fail, runTurn, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const bad = tool({ description: 'Fails.', inputSchema: z.object({}), execute: () => fail('It rains.') });
const note = tool({ description: 'Notes.', inputSchema: z.object({ what: z.string() }), execute: ({ what }) => what });

test('[R4] a call that was not run has its input parsed if it is JSON, like those that ran', async () => {
  const steps: FinishedStep[] = [];
  const model = scriptedModel([
    [
      { toolName: 'bad' },
      { toolName: 'note', input: { what: 'a' } },
      { toolName: 'note', input: '{"what": 1}' },
      { toolName: 'note', input: '{"wh' },
    ],
    'Done.',
  ]);
  const { settlements } = await runTurn({
    model,
    prompt: 'Go.',
    tools: { bad, note },
    session: createSession(),
    batch: { onError: 'cancel-rest' },
    onStepFinish: (step) => steps.push(step),
  });
  expect(settlements.map(({ outcome }) => outcome.status)).toEqual(['error', 'cancelled', 'cancelled', 'cancelled']);
  expect(settlements.map(({ input }) => input)).toEqual([{}, { what: 'a' }, { what: 1 }, '{"wh']);
  expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{}, { what: 'a' }, { what: 1 }, '{"wh']);
});

test('[R4] the reason for a cancellation ends with one full stop', async () => {
  const model = scriptedModel([[{ toolName: 'bad' }, { toolName: 'note' }], 'Done.']);
  const batch = { onError: 'cancel-rest' as const };
  const { settlements } = await runTurn({
    model,
    prompt: 'Go.',
    tools: { bad, note },
    session: createSession(),
    batch,
  });
  expect(settlements[1]?.outcome.text).toMatch(/failed: It rains\.$/);
});
