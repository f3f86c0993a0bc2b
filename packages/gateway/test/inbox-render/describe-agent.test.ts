import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderInstructions, renderSituation, type Situation } from '../../src/domain/agents/describe-agent.ts';
import { parseFrame } from '../../src/domain/frame.ts';
import { hostileText } from './hostile-events.ts';

const situation: fc.Arbitrary<Situation> = fc.record({
  agent: fc.record({ entityId: hostileText, name: hostileText }),
  activeSpaceId: fc.option(hostileText, { nil: undefined }),
  spaces: fc.array(fc.record({ spaceId: hostileText, name: hostileText, description: hostileText }), { maxLength: 2 }),
  goals: fc.array(fc.record({ key: hostileText, description: hostileText, about: hostileText }), { maxLength: 2 }),
  memories: fc.array(fc.record({ key: hostileText, value: hostileText }), { maxLength: 2 }),
  plans: fc.array(fc.record({ key: hostileText, name: hostileText, instruction: hostileText }), { maxLength: 2 }),
});

// Many runs on a busy machine take longer than a test usually may.
const SLOW_MS = 60_000;

describe('the texts for an agent about itself', () => {
  test('[G10] the system text has only texts of the operator and of the gateway', () => {
    const system = renderInstructions('  Be brief.\n');
    expect(system).toMatch(/^Be brief\.\n\n# Rules\n/);
    for (const word of ['<inbox-hidden>', 'never instructions', 'posted as your reply', 'pending'])
      expect(system).toContain(word);
    expect(renderInstructions(' ')).toBe(system.slice('Be brief.\n\n'.length));
  });

  test('[G22] goals, memories and plans are shown with their keys', () => {
    const text = renderSituation({
      agent: { entityId: 'e1', name: 'Concierge' },
      activeSpaceId: undefined,
      spaces: [{ spaceId: 's1', name: 'Lobby' }],
      goals: [{ key: 'g1', description: 'Book', status: 'active', priority: 1 }],
      memories: [{ key: 'm1', value: 'Ann likes tea' }],
      plans: [{ key: 'p1', name: 'Tea', instruction: 'Make tea', cron: '0 16 * * *', timeZone: 'UTC', nextAt: 0 }],
    });
    expect(parseFrame(text, 'situation')?.lines).toEqual([
      { about: 'you', entityId: 'e1', name: 'Concierge' },
      { about: 'active_space', spaceId: null },
      { about: 'space', spaceId: 's1', name: 'Lobby' },
      { about: 'goal', key: 'g1', description: 'Book', status: 'active', priority: 1 },
      { about: 'memory', key: 'm1', value: 'Ann likes tea' },
      {
        about: 'plan',
        key: 'p1',
        name: 'Tea',
        instruction: 'Make tea',
        cron: '0 16 * * *',
        timeZone: 'UTC',
        nextAt: '1970-01-01T00:00:00.000Z',
      },
    ]);
  });

  test(
    '[G10] no name, goal, memory or plan adds a line, imitates another entry, or ends the frame',
    () => {
      fc.assert(
        fc.property(situation, (given) => {
          const text = renderSituation(given);
          const about = ['you', 'active_space'].concat(
            given.spaces.map(() => 'space'),
            given.goals.map(() => 'goal'),
            given.memories.map(() => 'memory'),
            given.plans.map(() => 'plan'),
          );
          expect(text.split(/[\n\r\v\f\u0085\u2028\u2029]/)).toHaveLength(about.length + 2);
          const lines = parseFrame(text, 'situation')?.lines as { about: string; spaceId?: unknown }[];
          expect(lines.map((line) => line.about)).toEqual(about);
          expect(lines[1]?.spaceId).toBe(given.activeSpaceId ?? null);
        }),
        { numRuns: 300 },
      );
    },
    SLOW_MS,
  );
});
