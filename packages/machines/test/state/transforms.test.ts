import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { charter, createMachine, deserializeMachine, node, serializeMachine } from '../../src/index.ts';
import { outcomes, run } from '../kit.ts';

const machineWith = (state: z.ZodType) => {
  const team = charter({ nodes: { desk: node({ instructions: 'desk', state }) } } as never);
  return { team, machine: createMachine(team, { root: 'desk' } as never) };
};
const note = z.string().optional();

describe('a state whose schema transforms', () => {
  for (const [what, total] of [
    ['refuses its own output', z.string().transform(Number).optional()],
    [
      'changes its own output',
      z
        .number()
        .transform((cents) => cents / 100)
        .optional(),
    ],
  ] as const)
    test(`[M13] [M26] refuses a patch if the schema ${what}: the stored machine could not be restored`, async () => {
      const { team, machine } = machineWith(z.object({ total, note }));
      const input = { total: what.startsWith('refuses') ? '500' : 500 };
      const script = [
        [{ toolName: 'updateState', input }],
        [{ toolName: 'updateState', input: { note: 'hi' } }],
        'Ok.',
      ];
      const { steps } = await run(machine, script, { input: 'Go.' });
      const [refused, accepted] = outcomes(steps);
      expect(refused?.[1]).toBe('error');
      expect(refused?.[2]).toContain('its schema changes its own output when it parses it again');
      expect(accepted?.[1]).toBe('ok');
      expect(deserializeMachine(team, serializeMachine(machine)).tree.root.state).toEqual({ note: 'hi' });
    });

  test('[M13] accepts a patch if the schema keeps its own output', async () => {
    const { machine } = machineWith(z.object({ name: z.string().trim().optional(), note: note.default('none') }));
    await run(machine, [[{ toolName: 'updateState', input: { name: '  Ada ' } }], 'Ok.'], { input: 'Go.' });
    expect(machine.tree.root.state).toEqual({ name: 'Ada', note: 'none' });
  });
});
