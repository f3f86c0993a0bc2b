import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  createSession,
  dispatchCall,
  type Entry,
  JournalStalled,
  RestoreFailed,
  resource,
  retry,
  rewindTool,
  runTurn,
  type Settlement,
  type TurnOptions,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { note, notes } from './noting.ts';

const none = z.object({});
const never = (): Promise<never> => new Promise(() => {});
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const noted = (what: string) => ({ toolName: 'note', input: { what } });

/** Runs a turn until `beyond` ms after its deadline of 50 ms, and returns its state and result. */
async function upTo(beyond: number, options: Partial<TurnOptions>, clock = fakeClock()) {
  const session = createSession({ slices: [notes], logger: quiet, clock });
  const model = scriptedModel([[noted('a')], 'Done.']);
  const running = runTurn({ model, tools: { note }, prompt: 'Go.', session, clock, deadline: 1_050, ...options });
  let state: 'running' | 'over' = 'running';
  const ended = running.then(
    (result) => ({ result, error: undefined }),
    (error: Error & { transcript: { entries: readonly Entry[] } }) => ({ result: undefined, error }),
  );
  void ended.then(() => (state = 'over'));
  await settled();
  await clock.advance(50);
  const atDeadline = state;
  await clock.advance(beyond);
  await settled();
  expect(state).toBe('over');
  return { ...(await ended), atDeadline, session, model, clock };
}

test.each([
  ['turn', 0],
  ['reply', 1],
])(
  '[R58] a journal that never confirms a "%s" ends the turn in doubt, a short time after the deadline',
  async (kind, asked) => {
    const taken: string[] = [];
    const journal = {
      append: (entries: readonly Entry[]) => {
        if (entries.some((entry) => entry.kind === kind)) return never();
        taken.push(...entries.map((entry) => entry.kind));
      },
      settle: () => {},
    };
    const { error, model, atDeadline, clock } = await upTo(1_000, { journal });
    expect(error).toBeInstanceOf(JournalStalled);
    expect(error).toMatchObject({ code: 'journal_stalled', stop: { reason: 'error' } });
    expect(error?.message).toContain('may have been written or not');
    // An entry that may not be written is not in the transcript.
    expect(error?.transcript.entries.map((entry) => entry.kind)).toEqual(taken);
    expect(model.requests).toHaveLength(asked);
    expect(atDeadline).toBe('running');
    expect(clock.sleepers).toBe(0);
  },
);

test('[R58] if a journal never confirms a start, the tool does not run', async () => {
  let ran = false;
  const act = tool({ description: 'Acts.', inputSchema: none, execute: () => void (ran = true) });
  const journal = {
    append: (entries: readonly Entry[]) => (entries.some(({ kind }) => kind === 'started') ? never() : undefined),
    settle: () => {},
  };
  const model = scriptedModel([{ toolName: 'act' }]);
  const { error } = await upTo(1_000, { journal, model, tools: { act } });
  expect(error).toBeInstanceOf(JournalStalled);
  expect(ran).toBe(false);
});

test('[R58] if the write of the end of a call hangs, nothing is rolled back and the session cannot be used further', async () => {
  const clock = fakeClock();
  const filesystem = memoryFilesystem({ clock });
  const session = createSession({ slices: [notes], filesystem, logger: quiet, clock });
  const write = tool({
    description: 'Writes.',
    inputSchema: none,
    effects: 'session',
    execute: (_input, ctx) => ctx.filesystem.writeText('a.txt', 'written'),
  });
  const model = scriptedModel([{ toolName: 'write' }]);
  const journal = { append: () => {}, settle: never };
  const { error } = await upTo(1_000, { session, model, tools: { write }, journal }, clock);
  expect(error).toBeInstanceOf(JournalStalled);
  expect(error?.message).toContain('the end of "write" (call ');
  expect(error?.transcript.entries.some(({ kind }) => kind === 'settled')).toBe(false);
  // If the journal stored the end after all, the file must exist, as after a crash.
  expect(await filesystem.readText('a.txt')).toBe('written');
  await expect(dispatchCall({ tools: { write }, call: { toolName: 'write' }, session })).rejects.toThrow('poisoned');
});

test('[R58] a write that is active at the deadline, or that stores what the deadline ended, gets a short time to finish', async () => {
  const clock = fakeClock();
  const deaf = tool({ description: 'Deaf.', inputSchema: none, execute: never });
  const kinds: string[] = [];
  const slowly = async (...entries: readonly Entry[]): Promise<void> => {
    await clock.sleep(300);
    kinds.push(...entries.map(({ kind }) => kind));
  };
  const session = createSession({ logger: quiet, clock });
  const running = runTurn({
    model: scriptedModel([{ toolName: 'deaf' }]),
    tools: { deaf },
    prompt: 'Go.',
    session,
    clock,
    deadline: 2_000,
    journal: { append: (entries) => slowly(...entries), settle: (entry) => slowly(entry) },
  });
  await settled();
  for (let ms = 0; ms < 3_000; ms += 100) {
    await clock.advance(100);
    await settled();
  }
  const { stop, settlements } = await running;
  expect(stop).toEqual({ reason: 'deadline' });
  expect(settlements[0]?.outcome).toMatchObject({ code: 'timeout', effect: 'possible' });
  expect(kinds).toEqual(['turn', 'message', 'reply', 'started', 'settled', 'stop']);
});

test('[R58] an abort by the host ends the wait for a journal too, after a short time', async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const running = runTurn({
    model: scriptedModel(['never']),
    prompt: 'Go.',
    clock,
    signal: abort.signal,
    journal: { append: never, settle: () => {} },
  });
  running.catch(() => {});
  await settled();
  abort.abort();
  await settled();
  await clock.advance(1_000);
  await expect(running).rejects.toBeInstanceOf(JournalStalled);
});

test('[R58] without a deadline a turn waits for its journal without a limit', async () => {
  const clock = fakeClock();
  const running = runTurn({
    model: scriptedModel(['Done.']),
    prompt: 'Go.',
    clock,
    journal: { append: () => clock.sleep(3_600_000), settle: () => {} },
  });
  for (let hour = 0; hour < 4; hour++) {
    await settled();
    await clock.advance(3_600_000);
  }
  expect((await running).response).toBe('Done.');
});

test('[R58] a checkpoint of the host that hangs ends at the deadline, and the model is not asked', async () => {
  const { result, model } = await upTo(0, {
    tools: { note, rewind: rewindTool },
    rewind: { checkpoint: never },
  });
  expect(result?.stop).toEqual({ reason: 'deadline' });
  expect(model.requests).toHaveLength(0);
});

const rewinding = { toolName: 'rewind', input: { reason: 'r', guidance: 'g' } };

test('[R58] a restore of the host that hangs is given up after the deadline, and is not reported as done', async () => {
  const { error, session, atDeadline } = await upTo(5_000, {
    model: scriptedModel([[noted('a')], [rewinding], 'never']),
    tools: { note, rewind: rewindTool },
    rewind: { checkpoint: () => 'saved', restore: never },
  });
  expect(error).toBeInstanceOf(RestoreFailed);
  expect(error?.message).toContain('how far it came is not known');
  expect(error?.transcript.entries.some(({ kind }) => kind === 'rewind')).toBe(false);
  expect(atDeadline).toBe('running');
  await expect(dispatchCall({ tools: { note }, call: noted('b'), session })).rejects.toThrow('poisoned');
});

/** A file system whose undo never ends. */
function hangingFilesystem(clock: ReturnType<typeof fakeClock>) {
  return { ...memoryFilesystem({ clock }), capture: async () => never };
}

test('[R58] files or resources that hang when they are restored end the call after the deadline, with an error that says so', async () => {
  const stuck = resource('stuck', { create: () => ({}), snapshot: () => 0, restore: never });
  for (const touch of ['files', 'resource']) {
    const clock = fakeClock();
    const session = createSession({
      resources: [stuck],
      filesystem: hangingFilesystem(clock),
      logger: quiet,
      clock,
    });
    session.resources.get(stuck);
    const told: Settlement[] = [];
    session.subscribe('ToolInvoked', (event) => told.push(event));
    const act = tool({
      description: 'Acts.',
      inputSchema: none,
      effects: 'session',
      execute: async (_input, ctx) => {
        if (touch === 'files') await ctx.filesystem.writeText('a.txt', 'half');
        else ctx.resources.get(stuck);
        return never();
      },
    });
    const call = { toolName: 'act' };
    const running = dispatchCall({ tools: { act }, call, session, clock, deadline: 1_050 });
    running.catch(() => {});
    await settled();
    await clock.advance(50);
    await settled();
    expect(told).toHaveLength(0);
    await clock.advance(5_000);
    await expect(running).rejects.toBeInstanceOf(RestoreFailed);
    expect(told.map(({ outcome }) => outcome.text)).toEqual([
      '"act" did not finish: The deadline passed. What it changed could not all be put back.',
    ]);
  }
});

test('[R58] an attempt that is not restored before the deadline leaves a session that refuses further calls', async () => {
  const clock = fakeClock();
  const stuck = resource('stuck', { create: () => ({}), snapshot: () => 0, restore: never });
  const session = createSession({ resources: [stuck], logger: quiet, clock });
  session.resources.get(stuck);
  const act = tool({
    ...{ description: 'Acts.', inputSchema: none, effects: 'session' },
    execute: (_input, ctx) => {
      ctx.resources.get(stuck);
      throw new Error('again');
    },
  });
  const call = { toolName: 'act' };
  const middleware = [retry({ attempts: 2, clock })];
  const running = dispatchCall({ tools: { act }, call, session, clock, deadline: 1_050, middleware });
  running.catch(() => {});
  await settled();
  await clock.advance(50);
  await clock.advance(5_000);
  await expect(running).rejects.toBeInstanceOf(RestoreFailed);
  await expect(dispatchCall({ tools: { act }, call, session })).rejects.toBeInstanceOf(RestoreFailed);
});

test('[R58] file operations that hang when a call is committed end the call after the deadline', async () => {
  const clock = fakeClock();
  const filesystem = { ...memoryFilesystem({ clock }), writeText: never };
  const session = createSession({ filesystem, logger: quiet, clock });
  const act = tool({
    description: 'Acts.',
    inputSchema: none,
    effects: 'session',
    execute: (_input, ctx) => {
      void ctx.filesystem.writeText('a.txt', 'late');
      return 'done';
    },
  });
  const running = dispatchCall({ tools: { act }, call: { toolName: 'act' }, session, clock, deadline: 1_050 });
  running.catch(() => {});
  await settled();
  await clock.advance(5_050);
  await expect(running).rejects.toBeInstanceOf(RestoreFailed);
});
