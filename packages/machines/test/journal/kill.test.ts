import { crashingJournal, ProcessKilled } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { type Machine, type MachineEntry, machineFromRecords, serializeMachine } from '../../src/index.ts';
import { answer, desk, type Life, live, session } from './desk.ts';
import { stored } from './stored.ts';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Ids and times differ from process to process. */
function normal(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value).replace(/"(callId|startedAt|endedAt|toolCallId|providerCallId)":("[^"]*"|\d+)/g, '"$1":0'),
  );
}

function endOf({ machine }: Pick<Life, 'machine'>) {
  const { tree, threads } = serializeMachine(machine);
  const sessions = Object.entries(threads).map(([id, thread]) => [id, thread.session?.slices]);
  return { tree: normal(tree), sessions };
}

function isInDoubt({ history }: Machine): boolean {
  return history.some(
    (entry) =>
      entry.kind === 'settled' &&
      entry.settlement.outcome.status === 'error' &&
      entry.settlement.outcome.code === 'unknown_outcome',
  );
}

const cedes = (history: readonly MachineEntry[]) =>
  history.flatMap((entry) => (entry.kind === 'ceded' ? [[entry.instanceId, entry.content]] : [])).toSorted();
const reports = (history: readonly MachineEntry[]) =>
  history.filter((entry) => entry.kind === 'message' && JSON.stringify(entry.message).includes('has finished'));
const spawns = (history: readonly MachineEntry[]) => history.filter(({ kind }) => kind === 'spawned');

function assertOneEndEach(machine: Machine): void {
  const asked = machine.history.flatMap((entry) =>
    entry.kind === 'reply' ? entry.calls.map(({ callId }) => `${entry.instanceId} ${callId}`) : [],
  );
  const ended = machine.history.flatMap((entry) =>
    entry.kind === 'settled' ? [`${entry.instanceId} ${entry.settlement.callId}`] : [],
  );
  expect(ended.toSorted()).toEqual(asked.toSorted());
}

describe('a machine with two workers, a transition and a suspension', async () => {
  const unhurtWorld: string[] = [];
  const whole = crashingJournal(Number.POSITIVE_INFINITY);
  const unhurt = await live(unhurtWorld, whole, whole.kept);
  const expected = endOf(unhurt);

  test('[A16] ends normally without a crash, and its records restore the same machine', () => {
    expect(unhurt.error).toBeUndefined();
    expect(unhurtWorld.toSorted()).toEqual(['charge', 'search by root.1', 'search by root.2']);
    expect(unhurt.machine.tree.root).toMatchObject({ node: 'closed', state: { paid: 1 }, children: [], born: 2 });
    expect(unhurt.steps.at(-1)?.response).toBe('Closed.');
    expect(cedes(unhurt.machine.history)).toEqual([
      ['root.1', { read: 1 }],
      ['root.2', 'I found it.'],
    ]);
    assertOneEndEach(unhurt.machine);
    const rebuilt = machineFromRecords(desk([]), whole.kept.records, { session });
    expect(stored(rebuilt)).toEqual(stored(unhurt.machine));
    expect(plain(rebuilt.history)).toEqual(plain(unhurt.machine.history));
  });

  const deaths = whole.writes.flatMap((write, index) =>
    (['before', 'after'] as const).map((when) => ({ at: index + 1, when, write })),
  );
  test.each(deaths)('[A16] continues from its records, killed $when write $at ($write)', async ({ at, when }) => {
    const world: string[] = [];
    const journal = crashingJournal(at, { when });
    const killed = await live(world, journal, journal.kept);
    expect(killed.error).toBeInstanceOf(ProcessKilled);
    if (when === 'before' && journal.kept.records.length > 0) {
      // What the journal refused has not happened in memory either.
      const rebuilt = machineFromRecords(desk([]), journal.kept.records, { session });
      if (killed.machine.suspended.length < rebuilt.suspended.length) answer(rebuilt);
      expect(stored(killed.machine)).toEqual(stored(rebuilt));
    }
    const end = await live(world, journal.kept, journal.kept);
    expect(end.error).toBeUndefined();
    expect(new Set(world).size, `twice: ${world}`).toBe(world.length);
    const { machine } = end;
    assertOneEndEach(machine);
    expect(machine.suspended).toEqual([]);
    expect(cedes(machine.history)).toEqual(cedes(unhurt.machine.history));
    expect(reports(machine.history)).toHaveLength(2);
    expect(spawns(machine.history)).toHaveLength(1);
    expect(machine.tree.root).toMatchObject({ node: 'closed', children: [], born: 2 });
    if (isInDoubt(machine)) expect([0, 1]).toContain(machine.tree.root.state.paid);
    else {
      expect(endOf(end)).toEqual(expected);
      expect(world.toSorted()).toEqual(unhurtWorld.toSorted());
    }
    const rebuilt = machineFromRecords(desk([]), journal.kept.records, { session });
    expect(stored(rebuilt)).toEqual(stored(machine));
  });
});
