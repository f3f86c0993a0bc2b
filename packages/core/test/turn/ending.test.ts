import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome, Settlement } from '../../src/results/outcome.ts';
import type { CallRole, EndedRole, PlannedCall } from '../../src/turn/batch-plan.ts';
import { type BatchRules, refusalOf } from '../../src/turn/batch-rules.ts';
import { decideEnding, type Ended } from '../../src/turn/ending.ts';

type Status = Outcome['status'];
const outcomes: Record<Status, Outcome> = {
  ok: { status: 'ok', value: 1, text: '1' },
  error: { status: 'error', code: 'execution', message: 'broke', text: 'broke' },
  cancelled: { status: 'cancelled', reason: 'r', text: 'r' },
  skipped: { status: 'skipped', reason: 'r', text: 'r' },
  pending: { status: 'pending', kind: 'result', text: 'later' },
};
const roles: readonly CallRole[] = ['plain', 'terminal', 'listed', 'transition', 'rewind'];
const ended = (role: EndedRole, status: Status, index = 0): Ended => ({
  role,
  settlement: {
    callId: `c${index}`,
    toolName: `${role}-tool`,
    input: {},
    outcome: outcomes[status],
    startedAt: 1,
    endedAt: 1,
  } satisfies Settlement,
});
const batch = (...given: [EndedRole, Status][]): Ended[] => given.map(([role, status], at) => ended(role, status, at));
const planned = (role: CallRole): PlannedCall => ({ callId: 'next', toolName: 'next', input: '{}', role, place: 0 });
const anyStatus = fc.constantFrom<Status[]>('ok', 'error', 'cancelled', 'skipped', 'pending');
const anyBatch = fc
  .array(fc.tuple(fc.constantFrom(...roles), anyStatus), { maxLength: 12 })
  .map((given) => batch(...given));
const rulesOf = (more: Partial<BatchRules> = {}): BatchRules => ({
  onError: 'continue',
  afterTerminal: 'skip',
  ...more,
});
const anyRules = fc.record<BatchRules>({
  onError: fc.constantFrom('continue', 'cancel-rest'),
  afterTerminal: fc.constantFrom('skip', 'run'),
});

test('[R9][R17] only a success ever ends a turn', () => {
  fc.assert(
    fc.property(anyBatch, (given) => {
      const ending = decideEnding(given);
      if ('settlement' in ending) expect(ending.settlement.outcome.status).toBe('ok');
      const failed = given.filter(({ settlement }) => settlement.outcome.status !== 'ok');
      expect(['none', 'pending']).toContain(decideEnding(failed).kind);
    }),
  );
});

test('[R8][R16] the first terminal or listed call that succeeded gives the response', () => {
  expect(decideEnding(batch(['plain', 'ok'], ['terminal', 'error'], ['terminal', 'ok'], ['terminal', 'ok']))).toEqual({
    kind: 'response',
    by: 'terminal',
    settlement: ended('terminal', 'ok', 2).settlement,
  });
  expect(decideEnding(batch(['listed', 'ok'], ['plain', 'skipped']))).toMatchObject({
    kind: 'response',
    by: 'terminating',
  });
});

test('[R11] a transition that succeeded takes precedence over all other calls of its batch, at any position', () => {
  fc.assert(
    fc.property(anyBatch, (given) => {
      const first = given.find(({ role, settlement }) => role === 'transition' && settlement.outcome.status === 'ok');
      fc.pre(first !== undefined);
      expect(decideEnding(given)).toEqual({ kind: 'transition', settlement: first?.settlement });
    }),
  );
  expect(decideEnding(batch(['terminal', 'ok'], ['transition', 'error']))).toMatchObject({ kind: 'response' });
});

test('[R33] of a rewind and a terminal the earlier one that succeeded counts', () => {
  expect(decideEnding(batch(['rewind', 'ok'], ['terminal', 'cancelled'])).kind).toBe('rewind');
  expect(decideEnding(batch(['rewind', 'error'], ['terminal', 'ok'])).kind).toBe('response');
  expect(decideEnding(batch(['terminal', 'ok'], ['rewind', 'skipped'])).kind).toBe('response');
});

test('[R43] a batch with a pending call and no ending call is pending; one with neither does not end the turn', () => {
  expect(decideEnding(batch(['plain', 'pending'], ['plain', 'ok']))).toEqual({ kind: 'pending' });
  expect(decideEnding(batch(['plain', 'ok'], ['plain', 'error']))).toEqual({ kind: 'none' });
  expect(decideEnding([])).toEqual({ kind: 'none' });
});

test('[K3] a final call ends the turn only if all calls of its batch succeeded, and hides no failed or waiting call', () => {
  const first = ended('final', 'ok', 0).settlement;
  expect(decideEnding(batch(['final', 'ok']))).toEqual({ kind: 'response', by: 'terminal', settlement: first });
  expect(decideEnding(batch(['final', 'ok'], ['plain', 'ok']))).toMatchObject({ kind: 'response', settlement: first });
  expect(decideEnding(batch(['plain', 'error'], ['final', 'ok']))).toEqual({ kind: 'none' });
  expect(decideEnding(batch(['final', 'ok'], ['plain', 'cancelled']))).toEqual({ kind: 'none' });
  expect(decideEnding(batch(['final', 'ok'], ['plain', 'pending']))).toEqual({ kind: 'pending' });
  expect(decideEnding(batch(['final', 'ok'], ['transition', 'ok']))).toMatchObject({ kind: 'transition' });
  expect(decideEnding(batch(['final', 'ok'], ['terminal', 'ok'], ['plain', 'skipped']))).toMatchObject({
    kind: 'response',
    settlement: { toolName: 'terminal-tool' },
  });
});

test('[R5] by default later calls run after a failure', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...roles), fc.constantFrom<Status[]>('error', 'pending', 'cancelled'))),
      fc.constantFrom(...roles),
      (failures, role) => {
        expect(refusalOf(planned(role), batch(...failures), rulesOf())).toBeUndefined();
      },
    ),
  );
});

test.each<Status>(['error', 'pending'])(
  '[R4] under cancel-rest a call that is %s cancels every later one',
  (status) => {
    for (const role of roles) {
      const refused = refusalOf(
        planned(role),
        batch(['plain', 'ok'], ['plain', status], ['plain', 'cancelled']),
        rulesOf({ onError: 'cancel-rest' }),
      );
      expect(refused).toMatchObject({ status: 'cancelled', reason: expect.stringContaining('plain-tool') });
      expect(refused).toMatchObject({ reason: expect.stringContaining('call c1') });
    }
  },
);

test('[R12] a call skipped after a terminal one is not a failure: the calls after it are skipped too', () => {
  const before = batch(['terminal', 'ok'], ['plain', 'skipped']);
  expect(refusalOf(planned('plain'), before, rulesOf({ onError: 'cancel-rest' }))).toMatchObject({ status: 'skipped' });
});

test('[R10][R12] after a terminal that succeeded: another is an error, a plain call is as afterTerminal says', () => {
  const before = batch(['terminal', 'ok']);
  for (const afterTerminal of ['skip', 'run'] as const) {
    expect(refusalOf(planned('terminal'), before, rulesOf({ afterTerminal }))).toMatchObject({
      status: 'error',
      code: 'terminal_already_called',
    });
    expect(refusalOf(planned('transition'), before, rulesOf({ afterTerminal }))).toBeUndefined();
    expect(refusalOf(planned('rewind'), before, rulesOf({ afterTerminal }))).toMatchObject({ status: 'skipped' });
  }
  expect(refusalOf(planned('plain'), before, rulesOf())).toMatchObject({ status: 'skipped' });
  expect(refusalOf(planned('plain'), before, rulesOf({ afterTerminal: 'run' }))).toBeUndefined();
});

test('[R16] after a listed call that succeeded no call of its batch runs, of any kind and with any afterTerminal', () => {
  for (const role of roles) {
    expect(refusalOf(planned(role), batch(['listed', 'ok']), rulesOf({ afterTerminal: 'run' }))).toMatchObject({
      status: 'skipped',
    });
  }
});

test('[R11] only the first transition of a batch counts', () => {
  expect(refusalOf(planned('transition'), batch(['transition', 'ok']), rulesOf())).toMatchObject({
    status: 'error',
    code: 'transition_already_called',
  });
  expect(refusalOf(planned('transition'), batch(['transition', 'error']), rulesOf())).toBeUndefined();
  expect(refusalOf(planned('terminal'), batch(['transition', 'ok']), rulesOf())).toBeUndefined();
});

test('[R32] after a rewind that succeeded every later call is cancelled, naming it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...roles), anyRules, (role, rules) => {
      expect(refusalOf(planned(role), batch(['rewind', 'ok']), rules)).toMatchObject({
        status: 'cancelled',
        reason: expect.stringContaining('c0'),
      });
    }),
  );
});

test('[R1] a call always runs if no call before it failed or ended the turn', () => {
  fc.assert(
    fc.property(fc.array(fc.constant<[CallRole, Status]>(['plain', 'ok'])), anyRules, (before, rules) => {
      for (const role of roles) expect(refusalOf(planned(role), batch(...before), rules)).toBeUndefined();
    }),
  );
});
