import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  createSession,
  dispatchCall,
  fail,
  type Journal,
  pending,
  rewindTool,
  type SessionEvent,
  slice,
  tool,
} from '../../src/index.ts';
import { crashingJournal, ProcessKilled } from '../../src/testing/crashing-journal.ts';
import { type CrashScenario, killAtEveryBoundary } from '../../src/testing/kill-at-every-boundary.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import type { Transcript } from '../../src/transcript/transcript.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

const settlementsOf = ({ entries }: Transcript) =>
  entries.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement] : []));

interface Noted extends SessionEvent {
  readonly type: 'noted';
  readonly text: string;
}

const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (state, event: Noted) => [...state, event.text] },
});
const invoked = slice<readonly string[]>('invoked', {
  initial: [],
  policy: 'log',
  on: {
    ToolInvoked: (state, event: SessionEvent & { callId?: string; outcome?: { status: string } }) => [
      ...state,
      `${event.callId} ${event.outcome?.status}`,
    ],
  },
});
const text = z.object({ text: z.string() });

const note = tool({
  description: 'Notes.',
  effects: 'session',
  inputSchema: text,
  execute({ text }, { session }) {
    session.dispatch({ type: 'noted', text } as Noted);
    return `noted ${text}`;
  },
});
const look = tool({
  description: 'Looks.',
  effects: 'none',
  inputSchema: z.object({}),
  execute: (_, { session }) => session.read(notes).join(),
});
const refuse = tool({
  description: 'Notes and fails.',
  effects: 'session',
  inputSchema: text,
  execute({ text }, { session }) {
    session.dispatch({ type: 'noted', text } as Noted);
    return fail('no');
  },
});
const done = tool({
  description: 'Ends.',
  effects: 'session',
  terminal: true,
  inputSchema: text,
  execute: ({ text }) => `done ${text}`,
});

/** A tool with an external effect, and a record of these effects. */
function sender(idempotent: boolean) {
  const sent: string[] = [];
  const keys: string[] = [];
  const send = tool({
    description: 'Sends.',
    idempotent,
    inputSchema: text,
    execute({ text }, { idempotencyKey }) {
      keys.push(idempotencyKey);
      // Like an idempotent service: the same key has the same effect.
      if (!idempotent || !sent.includes(`${idempotencyKey} ${text}`)) sent.push(`${idempotencyKey} ${text}`);
      return `sent ${text}`;
    },
  });
  return { send, sent, keys };
}

function scenario(script: readonly ScriptedReply[], more: Partial<CrashScenario> = {}): CrashScenario {
  return {
    session: () => createSession({ slices: [notes, invoked] }),
    model: (replies) => scriptedModel(script.slice(replies)),
    turn: () => ({ prompt: 'go', tools: { note, look, refuse, done } }),
    ...more,
  };
}

const steps: readonly ScriptedReply[] = [
  [
    { toolName: 'look' },
    { toolName: 'look' },
    { toolName: 'note', input: { text: 'one' } },
    { toolName: 'refuse', input: { text: 'never' } },
    { toolName: 'nonsense' },
  ],
  [{ toolName: 'note', input: { text: 'two' } }, { toolName: 'look' }],
  [
    { toolName: 'note', input: { text: 'three' } },
    { toolName: 'done', input: { text: 'all' } },
    { toolName: 'note', input: { text: 'skipped' } },
  ],
];

test('[R49] a turn of tools without external effects has the same result wherever the process is killed', async () => {
  const report = await killAtEveryBoundary(() => scenario(steps));
  // turn + 3 replies + 10 calls + stop
  expect(report.boundaries).toBe(15);
  expect(report.tries).toHaveLength(30);
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R49] the same holds for a turn that is streamed', async () => {
  const report = await killAtEveryBoundary(() =>
    scenario(steps, { turn: () => ({ prompt: 'go', tools: { note, look, refuse, done }, onEvent: () => {} }) }),
  );
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R48] [R49] an idempotent tool with external effects runs again with the same key', async () => {
  const worlds: ReturnType<typeof sender>[] = [];
  const report = await killAtEveryBoundary(() => {
    const world = sender(true);
    worlds.push(world);
    return scenario([[{ toolName: 'send', input: { text: 'a' } }], 'end'], {
      turn: () => ({ prompt: 'go', tools: { send: world.send } }),
      effects: () => world.sent,
    });
  });
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
  // In some tries it ran twice, always with the same key.
  expect(worlds.some(({ keys }) => keys.length === 2)).toBe(true);
  expect(new Set(worlds.flatMap(({ keys }) => keys))).toEqual(new Set(['call-1']));
});

test('[R48] [R49] any other tool with external effects is never run a second time', async () => {
  const worlds: ReturnType<typeof sender>[] = [];
  const report = await killAtEveryBoundary(() => {
    const world = sender(false);
    worlds.push(world);
    return scenario(
      [
        [
          { toolName: 'send', input: { text: 'a' } },
          { toolName: 'note', input: { text: 'n' } },
        ],
        'end',
      ],
      { turn: () => ({ prompt: 'go', tools: { send: world.send, note } }), effects: () => world.sent },
    );
  });
  expect(worlds.every(({ keys }) => keys.length <= 1)).toBe(true);
  // turn, reply, started, settled send, settled note, reply, stop: in doubt between the stored start and the stored end.
  expect(
    report.tries
      .filter(({ outcome }) => outcome === 'unknown_outcome')
      .map(({ boundary, when }) => `${when} ${boundary}`),
  ).toEqual(['after 3', 'before 4']);
});

test('[R44] [R49] an approved call runs at most once wherever the process is killed', async () => {
  const worlds: ReturnType<typeof sender>[] = [];
  const report = await killAtEveryBoundary(() => {
    const world = sender(false);
    worlds.push(world);
    const guarded = { ...world.send, approval: true };
    return scenario([[{ toolName: 'guarded', input: { text: 'a' } }], 'end'], {
      turn: () => ({ prompt: 'go', tools: { guarded } }),
      effects: () => world.sent,
      answer: () => ({ approve: true }),
    });
  });
  expect(worlds.every(({ keys }) => keys.length <= 1)).toBe(true);
  // turn, reply, pending, stop, started, settled, reply, stop
  expect(
    report.tries
      .filter(({ outcome }) => outcome === 'unknown_outcome')
      .map(({ boundary, when }) => `${when} ${boundary}`),
  ).toEqual(['after 5', 'before 6']);
});

test('[R44] [R49] a call approved after its turn had continued runs at most once too', async () => {
  const worlds: ReturnType<typeof sender>[] = [];
  const report = await killAtEveryBoundary(() => {
    const world = sender(false);
    worlds.push(world);
    const guarded = { ...world.send, approval: true };
    return scenario([[{ toolName: 'guarded', input: { text: 'a' } }], 'meanwhile', 'end'], {
      turn: () => ({ prompt: 'go', tools: { guarded }, onPending: 'continue' }),
      effects: () => world.sent,
      answer: () => ({ approve: true }),
    });
  });
  expect(worlds.every(({ keys }) => keys.length <= 1)).toBe(true);
  // turn, reply, pending, reply, stop, turn, started, settled, reply, stop
  expect(
    report.tries
      .filter(({ outcome }) => outcome === 'unknown_outcome')
      .map(({ boundary, when }) => `${when} ${boundary}`),
  ).toEqual(['after 7', 'before 8']);
});

test('[R44] [R46] [R48] an approval given before a crash is valid after it, and wins over a later denial', async () => {
  const { send, keys } = sender(true);
  const guarded = { ...send, approval: true };
  const journal = crashingJournal(6);
  const newId = sequentialIds();
  const first = scriptedModel([[{ toolName: 'guarded', input: { text: 'a' } }]]);
  const options = { tools: { guarded }, newId };
  const { transcript } = await runTurn({ ...options, model: first, prompt: 'go', journal });
  const answered = runTurn({ ...options, model: first, transcript, journal, answers: { 'call-1': { approve: true } } });
  await expect(answered).rejects.toThrow(ProcessKilled);
  expect(keys).toEqual(['call-1']);
  const kept = journal.kept.restore().transcript;
  const denied = runTurn({ ...options, model: first, transcript: kept, answers: { 'call-1': { deny: 'no' } } });
  await expect(denied).rejects.toThrow(/answers\.call-1.*approve/);
  const result = await runTurn({ ...options, model: scriptedModel(['end']), transcript: kept });
  expect(result.settlements).toMatchObject([{ callId: 'call-1', outcome: { status: 'ok' } }]);
  expect(keys).toEqual(['call-1', 'call-1']);
});

test('[R43] [R48] a tool with external effects that returned "pending" has ended: only its run can be in doubt', async () => {
  const ask = tool({ description: 'Writes to somebody.', inputSchema: text, execute: () => pending() });
  const report = await killAtEveryBoundary(() =>
    scenario([[{ toolName: 'ask', input: { text: 'q' } }], 'end'], {
      turn: () => ({ prompt: 'go', tools: { ask } }),
      answer: () => ({ result: 'yes' }),
    }),
  );
  // turn, reply, started, pending, stop, settled, reply, stop
  expect(report.boundaries).toBe(8);
  expect(
    report.tries
      .filter(({ outcome }) => outcome === 'unknown_outcome')
      .map(({ boundary, when }) => `${when} ${boundary}`),
  ).toEqual(['after 3', 'before 4']);
});

test('[R48] an answer that replaces a tool leaves nothing in doubt', async () => {
  const ask = tool({ description: 'Asks somebody.', inputSchema: text });
  const report = await killAtEveryBoundary(() =>
    scenario([[{ toolName: 'ask', input: { text: 'q' } }], 'end'], {
      turn: () => ({ prompt: 'go', tools: { ask } }),
      answer: () => ({ result: 'yes' }),
    }),
  );
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R43] [R49] the writes of a call before it became pending are stored with its pending entry', async () => {
  const ask = tool({
    description: 'Asks somebody.',
    effects: 'session',
    inputSchema: text,
    execute({ text }, { session }) {
      session.dispatch({ type: 'noted', text } as Noted);
      return pending();
    },
  });
  const report = await killAtEveryBoundary(() =>
    scenario([[{ toolName: 'ask', input: { text: 'q' } }], 'end'], {
      turn: () => ({ prompt: 'go', tools: { ask } }),
      answer: () => ({ result: 'yes' }),
    }),
  );
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R43] [R49] the model reads a late answer wherever the process is killed', async () => {
  const ask = tool({ description: 'Asks somebody.', effects: 'none', inputSchema: text, execute: () => pending() });
  const report = await killAtEveryBoundary(() => {
    const heard: string[] = [];
    return scenario([], {
      model: (replies) =>
        scriptedModel(
          [
            [{ toolName: 'ask', input: { text: 'q' } }],
            'meanwhile',
            ({ prompt }: { prompt: unknown }) => {
              heard.push(String(JSON.stringify(prompt).match(/the late answer/g)?.length));
              return `heard ${heard.at(-1)}`;
            },
          ].slice(replies),
        ),
      turn: () => ({ prompt: 'go', tools: { ask }, onPending: 'continue' }),
      answer: () => ({ result: 'the late answer' }),
    });
  });
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
  // turn, reply, pending, reply, stop, turn, settled, reply, stop
  expect(report.boundaries).toBe(9);
});

test('[R49] killAtEveryBoundary detects a tool with undeclared effects, and says where', async () => {
  const failing = killAtEveryBoundary(() => {
    const sent: string[] = [];
    const lying = tool({
      description: 'Sends, and says it does nothing outside.',
      effects: 'session',
      inputSchema: z.object({}),
      execute: (_, { idempotencyKey }) => void sent.push(idempotencyKey),
    });
    return scenario([[{ toolName: 'lying' }], 'end'], {
      turn: () => ({ prompt: 'go', tools: { lying } }),
      effects: () => sent,
    });
  });
  await expect(failing).rejects.toThrow('Killed before write 3 (settled lying), this happened twice: call-1.');
});

test('[R49] killAtEveryBoundary detects state outside the session, and says which result differs', async () => {
  const failing = killAtEveryBoundary(() => {
    let count = 0;
    const counting = tool({
      description: 'Counts in a variable.',
      effects: 'session',
      inputSchema: z.object({}),
      execute(_, { session }) {
        session.dispatch({ type: 'noted', text: String(++count) } as Noted);
      },
    });
    return scenario([[{ toolName: 'counting' }], 'end'], { turn: () => ({ prompt: 'go', tools: { counting } }) });
  });
  await expect(failing).rejects.toThrow(/^Killed before write 3 .*state of the session is different/);
});

test('[R49] a crashing journal refuses all later writes, and keeps the fatal write only if an option says so', async () => {
  for (const [when, kept] of [
    ['before', 0],
    ['after', 1],
  ] as const) {
    const journal = crashingJournal(1, { when });
    const turn = runTurn({ model: scriptedModel(['hi']), prompt: 'go', journal });
    await expect(turn).rejects.toThrow(ProcessKilled);
    await expect(journal.append([{ kind: 'turn' }])).rejects.toThrow(ProcessKilled);
    expect(journal.kept.entries.filter(({ kind }) => kind === 'turn')).toHaveLength(kept);
  }
});

test('[R49] a journal with `start` gets the start of a call with the arguments, and the tool runs once the start is written', async () => {
  const order: unknown[] = [];
  const kept = memoryJournal();
  const charge = tool({
    description: 'Charges.',
    inputSchema: z.object({ euros: z.number().default(5) }),
    execute: () => void order.push('ran'),
  });
  const journal: Journal = {
    append: (entries) => kept.append(entries),
    settle: (entry, staged) => kept.settle(entry, staged),
    async start(entry, call) {
      await kept.append([entry]);
      order.push(call);
    },
  };
  const model = scriptedModel([[{ toolName: 'charge' }], 'end']);
  const { transcript } = await runTurn({ model, prompt: 'go', tools: { charge }, journal });
  expect(order).toEqual([{ toolName: 'charge', input: { euros: 5 } }, 'ran']);
  expect(transcript.entries.filter(({ kind }) => kind === 'started')).toHaveLength(1);
  expect(kept.entries).toEqual(transcript.entries);
});

test('[R49] a journal that refuses the end of a call leaves nothing of the call in the session', async () => {
  const session = createSession({ slices: [notes, invoked] });
  const model = scriptedModel([[{ toolName: 'note', input: { text: 'lost' } }]]);
  const journal = crashingJournal(3);
  await expect(runTurn({ model, prompt: 'go', tools: { note }, session, journal })).rejects.toThrow(ProcessKilled);
  expect(session.read(notes)).toEqual([]);
  expect(session.read(invoked)).toEqual([]);
});

test('[R49] a session that goes on after its journal refused a write is stored as it is', async () => {
  const kept = memoryJournal();
  let isRefusing = true;
  const settle: Journal['settle'] = (entry, staged) => {
    if (isRefusing) throw new Error('The disk is full.');
    return kept.settle(entry, staged);
  };
  const session = createSession({ slices: [notes] });
  const options = { tools: { note }, session, journal: { ...kept, settle } };
  const model = scriptedModel([{ toolName: 'note', input: { text: 'a' } }, 'Done.']);
  const failure = await runTurn({ ...options, model, prompt: 'Go.' }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: 'The disk is full.' });
  isRefusing = false;
  await runTurn({ ...options, model, transcript: (failure as { transcript: Transcript }).transcript });
  expect(session.read(notes)).toEqual(['a']);
  expect(kept.restore(createSession({ slices: [notes] })).session.read(notes)).toEqual(['a']);
});

test('[R49] a journal that throws synchronously refuses in the same way', async () => {
  const session = createSession({ slices: [notes] });
  const memory = memoryJournal();
  const journal = {
    append: memory.append,
    settle: () => {
      throw new ProcessKilled('at once');
    },
  };
  const model = scriptedModel([[{ toolName: 'note', input: { text: 'lost' } }]]);
  await expect(runTurn({ model, prompt: 'go', tools: { note }, session, journal })).rejects.toThrow(ProcessKilled);
  expect(session.read(notes)).toEqual([]);
});

test('[R30] [R49] changes undone by a rewind are undone in a restored session too', async () => {
  const journal = memoryJournal();
  const session = createSession({ slices: [notes] });
  const model = scriptedModel([
    [{ toolName: 'note', input: { text: 'undone' } }],
    [{ toolName: 'rewind', input: { reason: 'wrong', guidance: 'again' } }],
    [{ toolName: 'note', input: { text: 'kept' } }],
    'end',
  ]);
  await runTurn({ model, prompt: 'go', tools: { note, rewind: rewindTool }, session, journal });
  expect(session.read(notes)).toEqual(['kept']);
  const restored = journal.restore(createSession({ slices: [notes] }));
  expect(restored.session.read(notes)).toEqual(['kept']);
});

test('[R48] a started call without an end whose tool no longer exists has an unknown outcome', async () => {
  const { send, keys } = sender(false);
  const journal = crashingJournal(4);
  const first = runTurn({
    model: scriptedModel([[{ toolName: 'send', input: { text: 'a' } }]]),
    prompt: 'go',
    tools: { send },
    journal,
  });
  await expect(first).rejects.toThrow(ProcessKilled);
  const { transcript } = journal.kept.restore();
  const result = await runTurn({ model: scriptedModel(['end']), transcript, tools: {}, journal: journal.kept });
  expect(result.settlements.map(({ outcome }) => outcome)).toMatchObject([
    { status: 'error', code: 'unknown_outcome' },
  ]);
  expect(keys).toHaveLength(1);
});

test('[R48] [R57] calls without an end are settled when a new turn replaces theirs, and none of them runs', async () => {
  const { send, keys } = sender(false);
  const journal = crashingJournal(4);
  const calls = ['a', 'b'].map((text) => ({ toolName: 'send', input: { text } }));
  const first = runTurn({ model: scriptedModel([calls]), prompt: 'go', tools: { send }, journal });
  await expect(first).rejects.toThrow(ProcessKilled);
  const { transcript } = journal.kept.restore();
  const model = scriptedModel(['end']);
  const tools = { send };
  const result = await runTurn({ model, transcript, prompt: 'Something else.', tools, journal: journal.kept });
  expect(keys).toHaveLength(1);
  expect(settlementsOf(result.transcript)).toMatchObject([
    { input: { text: 'a' }, outcome: { status: 'error', code: 'unknown_outcome' } },
    { input: { text: 'b' }, outcome: { status: 'cancelled', reason: 'a new turn began before it had ended' } },
  ]);
  expect(result.settlements).toEqual([]);
  expect(journal.kept.restore().transcript.entries).toEqual(result.transcript.entries);
});

test('[R48] a call that had not begun does not run either if a new turn brings the answer to another call of its batch', async () => {
  const { send, keys } = sender(false);
  const ask = tool({ description: 'Asks somebody.', inputSchema: text, execute: () => pending() });
  const tools = { ask, send };
  const calls = ['ask', 'send'].map((toolName) => ({ toolName, input: { text: 'a' } }));
  // Killed before it can write that `send` starts.
  const journal = crashingJournal(5);
  const first = runTurn({ model: scriptedModel([calls]), prompt: 'go', tools, journal, newId: sequentialIds() });
  await expect(first).rejects.toThrow(ProcessKilled);
  const { transcript } = journal.kept.restore();
  const answers = { 'call-1': { result: 'yes' } };
  await runTurn({ model: scriptedModel(['end']), transcript, prompt: 'Do not send it.', tools, answers });
  expect(keys).toEqual([]);
  expect(settlementsOf(transcript)).toMatchObject([
    { callId: 'call-2', outcome: { status: 'cancelled', reason: 'a new turn began before it had ended' } },
    { callId: 'call-1', outcome: { status: 'ok', text: 'yes' } },
  ]);
});

test('[R48] a started call without an end stays in doubt if the resumed turn is aborted', async () => {
  const { send } = sender(false);
  const journal = crashingJournal(4);
  const model = scriptedModel([[{ toolName: 'send', input: { text: 'a' } }]]);
  await expect(runTurn({ model, prompt: 'go', tools: { send }, journal })).rejects.toThrow(ProcessKilled);
  const { transcript } = journal.kept.restore();
  const result = await runTurn({ model, transcript, tools: { send }, signal: AbortSignal.abort() });
  expect(result.settlements.map(({ outcome }) => outcome)).toMatchObject([{ code: 'unknown_outcome' }]);
});

test('[R49] no generated turn that is killed runs an effect twice, has an invalid history or ends with another result', async () => {
  const names = ['note', 'look', 'refuse', 'done', 'once', 'again', 'guarded', 'ask', 'rewind', 'nonsense'] as const;
  const call = fc.record({ toolName: fc.constantFrom(...names), text: fc.constantFrom('a', 'b') });
  const script = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
  const options = fc.record({
    onError: fc.constantFrom('continue', 'cancel-rest'),
    afterTerminal: fc.constantFrom('skip', 'run'),
    onPending: fc.constantFrom('suspend', 'continue'),
    streamed: fc.boolean(),
  });
  const ask = tool({ description: 'Asks somebody.', inputSchema: text, execute: () => pending() });
  await fc.assert(
    fc.asyncProperty(script, options, async (batches, { onError, afterTerminal, onPending, streamed }) => {
      const replies: ScriptedReply[] = batches.map((batch) =>
        batch.map(({ toolName, text }) => ({
          toolName,
          input: toolName === 'rewind' ? { reason: text, guidance: text } : { text },
        })),
      );
      await killAtEveryBoundary(() => {
        const [once, again] = [sender(false), sender(true)];
        const guarded = { ...once.send, approval: true };
        const tools = {
          note,
          look,
          refuse,
          done,
          once: once.send,
          again: again.send,
          guarded,
          ask,
          rewind: rewindTool,
        };
        // Late answers start new turns, so the script needs enough replies.
        return scenario([...replies, ...Array.from({ length: 20 }, () => 'end')], {
          turn: () => ({
            prompt: 'go',
            tools,
            batch: { onError, afterTerminal },
            onPending,
            ...(streamed ? { onEvent: () => {} } : {}),
          }),
          effects: () => [...once.sent, ...again.sent],
          answer: ({ kind }) => (kind === 'approval' ? { approve: true } : { result: 'yes' }),
        });
      });
    }),
    { numRuns: 25 },
  );
});

test.each(['none', 'session', 'external'] as const)(
  '[R49] what a call does outside inside a call of a tool with effects %s happens at most once, wherever the process dies',
  async (effects) => {
    let doubts = 0;
    const report = await killAtEveryBoundary(() => {
      const paid: string[] = [];
      const pay = tool({ description: 'Pays.', inputSchema: z.object({}), execute: () => paid.push('paid') });
      const outer = tool({
        description: 'Pays inside.',
        effects,
        inputSchema: z.object({}),
        execute: async (_input, ctx) =>
          (await dispatchCall({ tools: { pay }, parent: ctx, call: { toolName: 'pay' } })).outcome.text,
      });
      const replies: ScriptedReply[] = [{ toolName: 'outer' }, 'Done.'];
      return {
        turn: () => ({ prompt: 'Go.', newId: sequentialIds(), tools: { outer } }),
        model: (steps: number) => scriptedModel(replies.slice(steps)),
        effects: () => paid,
      };
    });
    for (const { outcome } of report.tries) if (outcome === 'unknown_outcome') doubts++;
    expect(doubts).toBeGreaterThan(0);
  },
);

test('[R49] a turn that a limit stops is not continued after a crash that came later', async () => {
  const report = await killAtEveryBoundary(() =>
    scenario(steps, { turn: () => ({ prompt: 'go', tools: { note, look, refuse, done }, maxSteps: 2 }) }),
  );
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R49] slices that a later process never uses, or uses in another order, make no difference', async () => {
  const unused = slice('unused', { initial: 0, on: { unused: () => 1 } });
  const first = { ...look, slices: [unused] };
  const then = { ...note, slices: [invoked, notes] };
  const report = await killAtEveryBoundary(() => ({
    model: (replies) => scriptedModel([{ toolName: 'then', input: { text: 'one' } }, 'end'].slice(replies)),
    turn: () => ({ prompt: 'go', tools: { first, then } }),
  }));
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R35] [R49] a rewind whose undoing was interrupted is in doubt, and not a different end', async () => {
  const report = await killAtEveryBoundary(() => {
    const world: string[] = [];
    const book = tool({
      description: 'Books.',
      inputSchema: z.object({}),
      execute: () => void world.push('booked'),
      compensate: () => void world.push('undone'),
    });
    const back = { toolName: 'rewind', input: { reason: 'r', guidance: 'g' } };
    return {
      model: (replies) => scriptedModel([{ toolName: 'book' }, back, 'end'].slice(replies)),
      turn: () => ({ prompt: 'go', tools: { book, rewind: rewindTool } }),
      effects: () => world,
    };
  });
  const doubtful = report.tries.filter(({ outcome }) => outcome === 'unknown_outcome');
  // Between the start and the end of the call, and between the start of its undoing and the rewind.
  expect(doubtful.map(({ boundary, when }) => `${when} ${boundary}`)).toEqual([
    'after 4',
    'before 5',
    'after 8',
    'before 9',
  ]);
});
