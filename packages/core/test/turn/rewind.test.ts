import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  createSession,
  dispatchCall,
  fail,
  filterToolSet,
  pending,
  RestoreFailed,
  resource,
  rewindTool,
  runTurn,
  type Session,
  slice,
  type ToolContext,
  type ToolSet,
  type TurnEvent,
  tool,
} from '../../src/index.ts';
import { hostFilesystem } from '../../src/node/host-filesystem.ts';
import type { SessionOptions } from '../../src/session/create-session.ts';
import { Session as StoredSession } from '../../src/session/create-session.ts';
import { crashingJournal } from '../../src/testing/crashing-journal.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { killAtEveryBoundary } from '../../src/testing/kill-at-every-boundary.ts';
import { type ScriptedCall, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { Transcript } from '../../src/transcript/transcript.ts';

interface Noted {
  readonly type: 'noted';
  readonly what: string;
}
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: Noted) => [...all, what] },
});
const audit = slice<readonly string[]>('audit', {
  initial: [],
  policy: 'log',
  on: { noted: (all, { what }: Noted) => [...all, what] },
});
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function newSession(more: SessionOptions = {}): Session {
  const filesystem = memoryFilesystem({ files: { 'a.txt': 'before' } });
  return createSession({ slices: [notes, audit], filesystem, logger: quiet, ...more });
}

const what = z.object({ what: z.string() });

/** Stores its input in the session and in files. */
const note = tool({
  description: 'Notes.',
  inputSchema: what,
  effects: 'session',
  async execute(input, ctx) {
    ctx.session.dispatch({ type: 'noted', what: input.what });
    await ctx.filesystem.writeText('a.txt', input.what);
    await ctx.filesystem.writeText(`notes/${input.what}.txt`, input.what);
    return input.what;
  },
});

function external(more: Partial<Parameters<typeof tool<{ what: string }, string>>[0]> = {}) {
  return tool<{ what: string }, string>({
    description: 'Acts outside.',
    inputSchema: what,
    execute: (input) => `did ${input.what}`,
    ...more,
  });
}

const back: ScriptedCall = { toolName: 'rewind', input: { reason: 'a dead end', guidance: 'go left' } };
const noted = (text: string): ScriptedCall => ({ toolName: 'note', input: { what: text } });

/** The texts of the messages of a request, one line each. */
function said(model: ScriptedModel, request: number): string[] {
  return (model.requests[request]?.prompt ?? []).map(({ role, content }) => {
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const texts = parts.map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'tool-call') return `call ${part.toolName}`;
      if (part.type === 'tool-result') return `result ${'value' in part.output ? part.output.value : ''}`;
      return part.type;
    });
    return `${role}: ${texts.join(', ')}`;
  });
}

function lastText(model: ScriptedModel, request: number): string {
  return said(model, request).at(-1) ?? '';
}

function advertised(model: ScriptedModel, request = 0): string[] {
  return (model.requests[request]?.tools ?? []).map(({ name }) => name);
}

test('[R29] the rewind tool is put into a set under any name, advertised, and filtered like any tool', async () => {
  const tools: ToolSet = { note, undo: rewindTool };
  const model = scriptedModel(['Done.']);
  await runTurn({ model, prompt: 'go', tools });
  expect(advertised(model)).toEqual(['note', 'undo']);
  expect(Object.keys(filterToolSet(tools, 'exclude', ['undo']))).toEqual(['note']);
});

test('[R29] a renamed and respread rewind tool still rewinds', async () => {
  const session = newSession();
  const model = scriptedModel([noted('one'), { ...back, toolName: 'mulligan' }, 'Done.']);
  await runTurn({ model, prompt: 'go', session, tools: { note, mulligan: { ...rewindTool } } });
  expect(session.read(notes)).toEqual([]);
});

test('[R29] if no rewind is allowed, the tool is not advertised, and calling it fails and changes nothing', async () => {
  const session = newSession();
  const model = scriptedModel([noted('one'), back, 'Done.']);
  const result = await runTurn({
    model,
    prompt: 'go',
    session,
    tools: { note, rewind: rewindTool },
    rewind: { max: 0 },
  });
  expect(advertised(model)).toEqual(['note']);
  expect(result.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'error']);
  expect(session.read(notes)).toEqual(['one']);
  expect(said(model, 2)).toHaveLength(5);
});

test('[R29] called outside a turn there is no checkpoint: it fails', async () => {
  const settlement = await dispatchCall({ tools: { rewind: rewindTool }, call: back });
  expect(settlement.outcome).toMatchObject({ status: 'error' });
});

test('[R29] called from inside a call there is no checkpoint: it fails, and the turn is not rewound', async () => {
  const session = newSession();
  const sneak = tool({
    description: 'Calls the rewind tool itself.',
    inputSchema: z.object({}),
    effects: 'session',
    async execute(_input, ctx) {
      const { outcome } = await dispatchCall({ tools: { rewind: rewindTool }, call: back, parent: ctx });
      return outcome.status;
    },
  });
  const model = scriptedModel([noted('one'), { toolName: 'sneak' }, 'Done.']);
  const result = await runTurn({ model, prompt: 'go', session, tools: { note, sneak, rewind: rewindTool } });
  expect(result.settlements[1]?.outcome).toMatchObject({ status: 'ok', value: 'error' });
  expect(session.read(notes)).toEqual(['one']);
});

test('[R29] tools that change from step to step: the checkpoint is where the rewind tool first appears', async () => {
  const session = newSession();
  const model = scriptedModel([noted('kept'), noted('undone'), back, 'Done.']);
  await runTurn({
    model,
    prompt: 'go',
    session,
    tools: ({ step }): ToolSet => (step === 1 ? { note } : { note, rewind: rewindTool }),
  });
  expect(session.read(notes)).toEqual(['kept']);
  expect(said(model, 3).slice(0, 3)).toEqual(['user: go', 'assistant: call note', 'tool: result kept']);
});

test('[R30] rewind restores state and files, removes the later steps from the view and says why', async () => {
  const session = newSession();
  const events: TurnEvent[] = [];
  const model = scriptedModel([noted('one'), [noted('two'), back], 'Done.']);
  const result = await runTurn({
    model,
    prompt: 'go',
    session,
    tools: { note, rewind: rewindTool },
    onEvent: (event) => void events.push(event),
  });
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.readText('a.txt')).toBe('before');
  expect(await session.filesystem.glob('**')).toEqual(['a.txt']);
  expect(said(model, 2)).toHaveLength(2);
  expect(said(model, 2)[0]).toBe('user: go');
  expect(lastText(model, 2)).toContain('a dead end');
  expect(lastText(model, 2)).toContain('go left');
  expect(lastText(model, 2)).not.toContain('still stand');
  expect(events.filter(({ type }) => type === 'rewind')).toEqual([
    { type: 'rewind', step: 2, reason: 'a dead end', guidance: 'go left' },
  ]);
  expect(result.stop).toEqual({ reason: 'end_turn', by: 'text' });
});

test('[R30] the transcript keeps the steps removed from the view, and a stored one has the same view', async () => {
  const model = scriptedModel([noted('one'), back, 'Done.']);
  const { transcript, settlements, steps } = await runTurn({
    model,
    prompt: 'go',
    session: newSession(),
    tools: { note, rewind: rewindTool },
  });
  expect(transcript.entries.map(({ kind }) => kind)).toEqual([
    'turn',
    'message',
    'checkpoint',
    'reply',
    'settled',
    'reply',
    'settled',
    'rewind',
    'reply',
    'stop',
  ]);
  expect(settlements).toHaveLength(2);
  expect(steps).toBe(3);
  expect(Transcript.fromJSON(JSON.stringify(transcript)).view()).toEqual(transcript.view());
});

test('[R30] a log slice keeps what was rewound', async () => {
  const session = newSession();
  await runTurn({
    model: scriptedModel([noted('one'), back, 'Done.']),
    prompt: 'go',
    session,
    tools: { note, rewind: rewindTool },
  });
  expect(session.read(audit)).toEqual(['one']);
});

test('[R30] state from before the turn stays', async () => {
  const session = newSession();
  const tools: ToolSet = { note, rewind: rewindTool };
  const first = await runTurn({ model: scriptedModel([noted('first'), 'Done.']), prompt: 'one', session, tools });
  const model = scriptedModel([noted('second'), back, 'Done.']);
  await runTurn({ model, prompt: 'two', session, tools, transcript: first.transcript });
  expect(session.read(notes)).toEqual(['first']);
  expect(await session.filesystem.readText('a.txt')).toBe('first');
  expect(said(model, 2).slice(0, -1)).toEqual([
    'user: one',
    'assistant: call note',
    'tool: result first',
    'assistant: Done.',
    'user: two',
  ]);
});

test('[R30] input that does not fit fails, and nothing is rewound', async () => {
  const session = newSession();
  const model = scriptedModel([noted('one'), { toolName: 'rewind', input: { reason: 'no guidance' } }, 'Done.']);
  const result = await runTurn({ model, prompt: 'go', session, tools: { note, rewind: rewindTool } });
  expect(result.settlements[1]?.outcome).toMatchObject({ status: 'error', code: 'invalid_input' });
  expect(session.read(notes)).toEqual(['one']);
});

test('[R31] two rewinds a turn; a third is denied, with state untouched and the view kept', async () => {
  const session = newSession();
  const model = scriptedModel([noted('one'), back, back, noted('two'), back, 'Done.']);
  const result = await runTurn({ model, prompt: 'go', session, tools: { note, rewind: rewindTool } });
  expect(result.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok', 'ok', 'ok', 'error']);
  expect(result.settlements[4]?.outcome).toMatchObject({ code: 'denied', text: expect.stringContaining('denied') });
  expect(session.read(notes)).toEqual(['two']);
  expect(said(model, 5).slice(2, 4)).toEqual(['assistant: call note', 'tool: result two']);
  expect(lastText(model, 5)).toContain('denied');
});

test('[R31] max limits the rewinds of a turn, and a new turn counts from 0', async () => {
  const session = newSession();
  const tools: ToolSet = { note, rewind: rewindTool };
  const first = await runTurn({
    model: scriptedModel([back, noted('one'), back, 'Done.']),
    prompt: 'go',
    session,
    tools,
    rewind: { max: 1 },
  });
  expect(first.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok', 'error']);
  await runTurn({
    model: scriptedModel([noted('two'), back, 'Done.']),
    prompt: 'again',
    session,
    tools,
    transcript: first.transcript,
    rewind: { max: 1 },
  });
  expect(session.read(notes)).toEqual(['one']);
});

test('[R32] calls before a rewind in its batch have settled, calls after it are cancelled and never start', async () => {
  const session = newSession();
  const started: string[] = [];
  const look = tool({
    description: 'Looks.',
    inputSchema: what,
    effects: 'none',
    execute: (input) => void started.push(input.what),
  });
  const see = (text: string): ScriptedCall => ({ toolName: 'look', input: { what: text } });
  const model = scriptedModel([[see('a'), noted('one'), back, see('b'), noted('two')], 'Done.']);
  const result = await runTurn({ model, prompt: 'go', session, tools: { note, look, rewind: rewindTool } });
  expect(result.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok', 'ok', 'cancelled', 'cancelled']);
  expect(result.settlements[3]?.outcome).toMatchObject({ reason: expect.stringContaining('rewound') });
  expect(started).toEqual(['a']);
  expect(session.read(notes)).toEqual([]);
});

test('[R32] calls that became pending since the checkpoint are cancelled, and an answer comes too late', async () => {
  const session = newSession();
  const ask = tool({ description: 'Asks.', inputSchema: what, execute: () => pending() });
  const tools: ToolSet = { ask, note, rewind: rewindTool };
  const model = scriptedModel([[{ toolName: 'ask', input: { what: 'x' } }, back], 'Done.']);
  const result = await runTurn({ model, prompt: 'go', session, tools, newId: sequentialIds() });
  expect(result.pending).toEqual([]);
  const outcomes = new Map(result.settlements.map(({ callId, outcome }) => [callId, outcome]));
  expect(outcomes.get('call-1')).toMatchObject({ status: 'cancelled', reason: 'the turn was rewound' });
  await expect(
    runTurn({
      model: scriptedModel(['No.']),
      transcript: result.transcript,
      tools,
      session,
      answers: { 'call-1': { result: 'late' } },
    }),
  ).rejects.toThrow('answers.call-1');
});

test.each([
  ['is cancelled', 0],
  ['has expired', 2_000],
])(
  '[R35] the outside effect of a call that waits for its answer and %s is listed as remaining',
  async (_what, passed) => {
    const clock = fakeClock();
    const inputSchema = what;
    const mail = tool({ description: 'Mails.', inputSchema, execute: () => pending({ expiresInMs: 1_500 }) });
    const held = tool({ description: 'Pays.', inputSchema, approval: true, execute: () => 'paid' });
    const ask = tool({ description: 'Asks.', inputSchema, effects: 'session', execute: () => pending() });
    const tools: ToolSet = { mail, held, ask, rewind: rewindTool };
    const options = { session: newSession(), tools, clock };
    const waiting = ['mail', 'held', 'ask'].map((toolName) => ({ toolName, input: { what: 'x' } }));
    const { transcript } = await runTurn({ ...options, prompt: 'go', model: scriptedModel([waiting]) });
    await clock.advance(passed);
    const [, deny] = transcript.entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : []));
    const answers = { [deny?.callId ?? '']: { deny: 'no' } };
    const model = scriptedModel([back, 'Done.']);
    await runTurn({ ...options, transcript, model, answers, onPending: 'continue' });
    const told = lastText(model, 1);
    expect(told).toContain('mail {"what":"x"} (it did not finish, and may have taken effect)');
    expect(told).not.toMatch(/held|ask/);
  },
);

test('[R35] a call that has run and waits for its answer forbids a rewind if its tool does, and one that waits for approval does not', async () => {
  const inputSchema = what;
  const mail = tool({ description: 'Mails.', inputSchema, forbidsRewind: true, execute: () => pending() });
  for (const [approval, status] of [
    [false, 'error'],
    [true, 'ok'],
  ] as const) {
    const tools: ToolSet = { mail: { ...mail, approval }, rewind: rewindTool };
    const model = scriptedModel([[{ toolName: 'mail', input: { what: 'x' } }, back], 'Done.']);
    const options = { model, tools, session: newSession(), onPending: 'continue' } as const;
    const { settlements } = await runTurn({ ...options, prompt: 'go' });
    expect(settlements.find(({ toolName }) => toolName === 'rewind')?.outcome.status).toBe(status);
  }
});

test('[R32] under onPending continue, calls pending since the checkpoint are cancelled, and earlier ones are not', async () => {
  const session = newSession();
  const ask = tool({ description: 'Asks.', inputSchema: what, execute: () => pending() });
  const tools: ToolSet = { ask, rewind: rewindTool };
  const newId = sequentialIds();
  const asks = (text: string): ScriptedCall => ({ toolName: 'ask', input: { what: text } });
  const options = { session, tools, newId, onPending: 'continue' as const };
  const first = await runTurn({ ...options, model: scriptedModel([asks('old'), 'Later.']), prompt: 'one' });
  const model = scriptedModel([asks('new'), back, 'Done.']);
  const second = await runTurn({ ...options, model, prompt: 'two', transcript: first.transcript });
  expect(second.pending.map(({ input }) => input)).toEqual([{ what: 'old' }]);
  const answered = scriptedModel(['Thanks.']);
  const third = await runTurn({
    ...options,
    model: answered,
    prompt: 'three',
    transcript: second.transcript,
    answers: { 'call-1': { result: 'forty-two' } },
  });
  expect(said(answered, 0).filter((line) => line.includes('forty-two'))).toHaveLength(1);
  expect(third.pending).toEqual([]);
});

test('[R32] an abandoned call changes nothing after the restore', async () => {
  const clock = fakeClock();
  const session = newSession({ clock });
  const late = Promise.withResolvers<void>();
  const refused: string[] = [];
  const straggler = tool({
    description: 'Writes before and after its time.',
    inputSchema: what,
    effects: 'session',
    timeoutMs: 100,
    async execute(_input, ctx) {
      await ctx.filesystem.writeText('a.txt', 'half');
      await late.promise;
      await ctx.filesystem.writeText('a.txt', 'late').catch((error: Error) => refused.push(error.name));
      try {
        ctx.session.dispatch({ type: 'noted', what: 'late' });
      } catch (error) {
        refused.push((error as Error).name);
      }
    },
  });
  const model = scriptedModel([noted('one'), [act('x', 'straggler'), back], 'Done.']);
  const running = runTurn({ model, prompt: 'go', session, clock, tools: { note, straggler, rewind: rewindTool } });
  while (clock.sleepers === 0) await clock.advance(0);
  await clock.advance(100);
  await running;
  late.resolve();
  await settled();
  expect(refused).toEqual(['StaleCallError', 'StaleCallError']);
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.readText('a.txt')).toBe('before');
});

const done = tool({ description: 'Ends.', inputSchema: what, terminal: true, execute: (input) => input.what });
const ends: ScriptedCall = { toolName: 'done', input: { what: 'the end' } };

test('[R33] a rewind before a terminal wins, and the terminal does not run', async () => {
  const session = newSession();
  const model = scriptedModel([[noted('one'), back, ends], 'Done.']);
  const result = await runTurn({ model, prompt: 'go', session, tools: { note, done, rewind: rewindTool } });
  expect(result.response).toBe('Done.');
  expect(result.settlements[2]?.outcome.status).toBe('cancelled');
  expect(session.read(notes)).toEqual([]);
});

test('[R33] a terminal before a rewind wins, also where calls after it run', async () => {
  for (const afterTerminal of ['skip', 'run'] as const) {
    const session = newSession();
    const result = await runTurn({
      model: scriptedModel([[noted('one'), ends, back]]),
      prompt: 'go',
      session,
      tools: { note, done, rewind: rewindTool },
      batch: { afterTerminal },
    });
    expect(result).toMatchObject({ response: 'the end', stop: { reason: 'end_turn', by: 'terminal' } });
    expect(result.settlements[2]?.outcome.status).toBe('skipped');
    expect(session.read(notes)).toEqual(['one']);
  }
});

test('[R33] of a rewind and a terminal the one that succeeds counts: after a denied rewind, or a failed terminal', async () => {
  const failing = tool({ description: 'Fails.', inputSchema: what, terminal: true, execute: () => fail('no') });
  const denied = await runTurn({
    model: scriptedModel([back, [back, ends]]),
    prompt: 'go',
    session: newSession(),
    tools: { done, rewind: rewindTool },
    rewind: { max: 1 },
  });
  expect(denied.response).toBe('the end');
  const session = newSession();
  const rewound = await runTurn({
    model: scriptedModel([[noted('one'), ends, back], 'Done.']),
    prompt: 'go',
    session,
    tools: { note, done: failing, rewind: rewindTool },
  });
  expect(rewound.response).toBe('Done.');
  expect(session.read(notes)).toEqual([]);
});

test('[R33] after a transition a rewind is skipped, because it would not take place', async () => {
  const session = newSession();
  const hand = tool({
    description: 'Hands over.',
    inputSchema: z.object({}),
    transition: true,
    execute: () => 'there',
  });
  const result = await runTurn({
    model: scriptedModel([[noted('one'), { toolName: 'hand' }, back]]),
    prompt: 'go',
    session,
    tools: { note, hand, rewind: rewindTool },
  });
  expect(result.stop).toMatchObject({ reason: 'transition' });
  expect(result.settlements[2]?.outcome.status).toBe('skipped');
  expect(session.read(notes)).toEqual(['one']);
});

interface Counter {
  value: number;
}
function countedResource(key: string, log: string[] = []) {
  return resource(key, {
    create: (): Counter => ({ value: 0 }),
    snapshot: (counter) => counter.value,
    restore: (counter, saved) => {
      counter.value = saved;
    },
    dispose: (counter) => void log.push(`disposed ${key} at ${counter.value}`),
  });
}

test('[R34] two rewinds restore the identical checkpoint: state, memory files, resources and the host’s own', async () => {
  const log: string[] = [];
  const counter = countedResource('counter');
  const lazy = countedResource('lazy', log);
  const session = newSession({ resources: [counter, lazy] });
  session.resources.get(counter).value = 7;
  let board = { moves: ['e4'] };
  const moves = tool({
    description: 'Changes everything.',
    inputSchema: what,
    effects: 'session',
    async execute(input, ctx) {
      ctx.session.dispatch({ type: 'noted', what: input.what });
      await ctx.filesystem.writeText('a.txt', input.what);
      await ctx.filesystem.writeText('made/new.txt', input.what);
      ctx.resources.get(counter).value++;
      ctx.resources.get(lazy).value++;
      board.moves.push(input.what);
      return input.what;
    },
  });
  const seen: unknown[] = [];
  const look = async (): Promise<void> => {
    seen.push({
      notes: session.read(notes),
      files: await session.filesystem.glob('**'),
      text: await session.filesystem.readText('a.txt'),
      counter: session.resources.get(counter).value,
      board: structuredClone(board),
    });
  };
  const move = (text: string): ScriptedCall => ({ toolName: 'moves', input: { what: text } });
  const model = scriptedModel([
    async () => (await look(), [move('a'), move('b')]),
    move('c'),
    back,
    async () => (await look(), move('d')),
    [move('e'), back],
    async () => (await look(), 'Done.'),
  ]);
  await runTurn({
    model,
    prompt: 'go',
    session,
    tools: { moves, rewind: rewindTool },
    rewind: {
      checkpoint: () => structuredClone(board),
      restore: (saved: typeof board) => {
        board = saved;
      },
    },
  });
  expect(seen).toHaveLength(3);
  expect(seen[0]).toEqual({
    notes: [],
    files: ['a.txt'],
    text: 'before',
    counter: 7,
    board: { moves: ['e4'] },
  });
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
  // Resources built since the checkpoint are gone: the next access builds a new one.
  expect(log).toHaveLength(2);
  expect(session.resources.get(lazy).value).toBe(0);
});

test('[R34] two rewinds restore the files of the host, also deleted and new ones', async () => {
  const root = await mkdtemp(join(tmpdir(), 'lastcall-rewind-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'kept.txt'), 'original');
  await writeFile(join(root, 'gone.txt'), 'was here');
  const work = tool({
    description: 'Works on files.',
    inputSchema: what,
    effects: 'session',
    async execute(input, ctx) {
      await ctx.filesystem.writeText('kept.txt', input.what);
      await ctx.filesystem.writeText(`deep/${input.what}/new.txt`, input.what);
      if ((await ctx.filesystem.glob('gone.txt')).length > 0) await ctx.filesystem.delete('gone.txt');
      return 'ok';
    },
  });
  const seen: unknown[] = [];
  const look = async (): Promise<void> => {
    seen.push([(await readdir(root)).sort(), await readFile(join(root, 'kept.txt'), 'utf8')]);
  };
  const call = (text: string): ScriptedCall => ({ toolName: 'work', input: { what: text } });
  const model = scriptedModel([
    call('a'),
    [call('b'), back],
    async () => (await look(), [call('c'), back]),
    async () => (await look(), 'Done.'),
  ]);
  const session = newSession({ filesystem: hostFilesystem(root) });
  await runTurn({ model, prompt: 'go', session, tools: { work, rewind: rewindTool } });
  expect(seen).toEqual([
    [['gone.txt', 'kept.txt'], 'original'],
    [['gone.txt', 'kept.txt'], 'original'],
  ]);
});

test('[R34] a second turn on the same session can be rewound like the first', async () => {
  const session = newSession();
  const tools: ToolSet = { note, rewind: rewindTool };
  for (const prompt of ['one', 'two', 'three']) {
    await runTurn({ model: scriptedModel([noted('x'), back, 'Done.']), prompt, session, tools });
    expect(await session.filesystem.readText('a.txt')).toBe('before');
    expect(await session.filesystem.glob('**')).toEqual(['a.txt']);
  }
});

test('[R34] the host’s checkpoint may be asynchronous and is taken once, and restore gets an equal value each time', async () => {
  let taken = 0;
  const restored: unknown[] = [];
  await runTurn({
    model: scriptedModel([back, back, 'Done.']),
    prompt: 'go',
    tools: { rewind: rewindTool },
    rewind: {
      checkpoint: async () => ({ number: ++taken, list: [1] }),
      restore: (saved: { number: number; list: number[] }) => {
        restored.push(structuredClone(saved));
        saved.list.push(2);
      },
    },
  });
  expect(restored).toEqual([
    { number: 1, list: [1] },
    { number: 1, list: [1] },
  ]);
});

test('[R34] restore gets an object of the host’s own class unchanged', async () => {
  class Game {
    readonly moves = ['e4'];
  }
  const game = new Game();
  const restored: unknown[] = [];
  await runTurn({
    model: scriptedModel([back, 'Done.']),
    prompt: 'go',
    tools: { rewind: rewindTool },
    rewind: { checkpoint: () => ({ game }), restore: (saved: { game: Game }) => void restored.push(saved.game) },
  });
  expect(restored[0]).toBe(game);
});

test('[R34] a checkpoint that cannot be restored ends the turn with RestoreFailed, and the session is unusable', async () => {
  const session = newSession();
  const tools: ToolSet = { note, rewind: rewindTool };
  const failing = runTurn({
    model: scriptedModel([noted('one'), back, 'Done.']),
    prompt: 'go',
    session,
    tools,
    rewind: {
      checkpoint: () => 1,
      restore: () => {
        throw new Error('the disk is gone');
      },
    },
  });
  const error = await failing.then(
    () => undefined,
    (thrown: unknown) => thrown as RestoreFailed & { transcript: Transcript },
  );
  expect(error).toBeInstanceOf(RestoreFailed);
  expect(error?.message).toContain('the disk is gone');
  expect(error?.transcript.entries.at(-1)).toMatchObject({ kind: 'settled' });
  await expect(runTurn({ model: scriptedModel(['x']), prompt: 'on', session, tools })).rejects.toBeInstanceOf(
    RestoreFailed,
  );
});

const act = (text: string, toolName = 'act'): ScriptedCall => ({ toolName, input: { what: text } });

test('[R35] an external effect since the checkpoint is listed for the model as remaining', async () => {
  const model = scriptedModel([act('pay'), [act('mail'), back], 'Done.']);
  await runTurn({ model, prompt: 'go', session: newSession(), tools: { act: external(), rewind: rewindTool } });
  const text = lastText(model, 2);
  expect(text).toContain('still stand');
  expect(text.indexOf('act {"what":"pay"}')).toBeGreaterThan(0);
  expect(text.indexOf('act {"what":"mail"}')).toBeGreaterThan(text.indexOf('act {"what":"pay"}'));
});

test('[R35] remaining effects are listed again after the next rewind, and are not compensated twice', async () => {
  const undone: string[] = [];
  const model = scriptedModel([[act('pay'), act('book', 'bookings'), back], [act('mail'), back], 'Done.']);
  await runTurn({
    model,
    prompt: 'go',
    session: newSession(),
    tools: {
      act: external(),
      bookings: external({ compensate: (_value, input) => void undone.push(input.what) }),
      rewind: rewindTool,
    },
  });
  expect(lastText(model, 2)).toContain('"pay"');
  expect(lastText(model, 2)).toContain('"mail"');
  expect(undone).toEqual(['book']);
});

test('[R35] calls without external effects, and failed calls, are not listed as remaining', async () => {
  const model = scriptedModel([[act('a', 'inner'), act('b', 'failing'), back], 'Done.']);
  await runTurn({
    model,
    prompt: 'go',
    session: newSession(),
    tools: {
      inner: external({ effects: 'session' }),
      failing: external({ execute: () => fail('no') }),
      rewind: rewindTool,
    },
  });
  expect(lastText(model, 1)).not.toContain('still stand');
});

test('[R35] an abandoned external call may have acted, and is listed so', async () => {
  const hanging = external({ timeoutMs: 100, execute: () => new Promise<string>(() => {}) });
  expect(await textAfterTimeout(hanging)).toContain(HANGING);
});

test('[R35] [T55] a call that was abandoned after a nested call had acted is listed too', async () => {
  const hanging = external({
    effects: 'session',
    timeoutMs: 100,
    execute: async (_input: unknown, parent: ToolContext) => {
      await dispatchCall({ tools: { inner: external() }, call: { toolName: 'inner', input: { what: 'b' } }, parent });
      return new Promise<string>(() => {});
    },
  });
  expect(await textAfterTimeout(hanging)).toContain(HANGING);
});

const HANGING = 'hanging {"what":"a"} (it did not finish, and may have taken effect)';

/** What the model reads after a rewind to before the call of the tool, which was given up after its 100 ms. */
async function textAfterTimeout(hanging: ReturnType<typeof external>): Promise<string> {
  const clock = fakeClock();
  const model = scriptedModel([act('a', 'hanging'), back, 'Done.']);
  const running = runTurn({
    model,
    prompt: 'go',
    session: newSession({ clock }),
    clock,
    tools: { hanging, rewind: rewindTool },
  });
  while (clock.sleepers === 0) await clock.advance(0);
  await clock.advance(100);
  await running;
  return lastText(model, 2);
}

test('[R35] compensate is called in reverse order with value, input and a context that cannot write', async () => {
  const undone: unknown[] = [];
  const acting = external({
    async compensate(value, input, ctx: ToolContext) {
      undone.push([value, input.what, ctx.toolCallId, ctx.session.read(notes)]);
    },
  });
  const writing = external({
    compensate: (_value, _input, ctx) => ctx.session.dispatch({ type: 'noted', what: 'sneaked in' }),
  });
  const session = newSession();
  const model = scriptedModel([[act('a'), act('b')], [act('c'), act('d', 'writing'), noted('n'), back], 'Done.']);
  await runTurn({
    model,
    prompt: 'go',
    session,
    newId: sequentialIds(),
    tools: { act: acting, writing, note, rewind: rewindTool },
  });
  expect(undone).toEqual([
    ['did c', 'c', 'call-3', ['n']],
    ['did b', 'b', 'call-2', ['n']],
    ['did a', 'a', 'call-1', ['n']],
  ]);
  expect(session.read(notes)).toEqual([]);
  expect(lastText(model, 2)).toContain('writing {"what":"d"} (undoing it failed');
  expect(lastText(model, 2)).not.toContain('"what":"a"');
});

test('[R35] a compensation that fails is reported, does not stop the others, and the rewind takes place', async () => {
  const undone: string[] = [];
  const acting = external({
    compensate(_value, input) {
      if (input.what === 'b') throw new Error('no refund');
      undone.push(input.what);
    },
  });
  const session = newSession();
  const model = scriptedModel([[act('a'), act('b'), act('c'), noted('n'), back], 'Done.']);
  await runTurn({ model, prompt: 'go', session, logger: quiet, tools: { act: acting, note, rewind: rewindTool } });
  expect(undone).toEqual(['c', 'a']);
  expect(lastText(model, 1)).toContain('act {"what":"b"} (undoing it failed: Error: no refund)');
  expect(session.read(notes)).toEqual([]);
});

test('[R35] a compensation that hangs is abandoned with the turn', async () => {
  const host = new AbortController();
  const acting = external({
    compensate() {
      host.abort();
      return new Promise<void>(() => {});
    },
  });
  const session = newSession();
  const result = await runTurn({
    model: scriptedModel([[act('a'), noted('n'), back], 'Done.']),
    prompt: 'go',
    session,
    signal: host.signal,
    tools: { act: acting, note, rewind: rewindTool },
  });
  expect(result.stop).toEqual({ reason: 'aborted' });
  expect(result.transcript.entries.find(({ kind }) => kind === 'rewind')).toMatchObject({
    remaining: ['act {"what":"a"} (undoing it did not finish)'],
  });
  expect(session.read(notes)).toEqual([]);
});

test('[R35] a call of a tool that forbids rewinds denies the rewind: nothing is changed or compensated', async () => {
  const undone: string[] = [];
  for (const effects of ['external', 'session'] as const) {
    const session = newSession();
    const model = scriptedModel([[noted('one'), act('launch', 'launch'), act('a')], back, 'Done.']);
    const result = await runTurn({
      model,
      prompt: 'go',
      session,
      tools: {
        note,
        launch: external({ forbidsRewind: true, effects }),
        act: external({ compensate: (_value, input) => void undone.push(input.what) }),
        rewind: rewindTool,
      },
    });
    expect(result.settlements.at(-1)?.outcome).toMatchObject({ status: 'error', code: 'denied' });
    expect(lastText(model, 2)).toContain('"launch"');
    expect(said(model, 2)).toHaveLength(5);
    expect(session.read(notes)).toEqual(['one']);
  }
  expect(undone).toEqual([]);
});

test('[R35] a failed call of such a tool does not forbid the rewind', async () => {
  const session = newSession();
  const result = await runTurn({
    model: scriptedModel([[noted('one'), act('launch', 'launch')], back, 'Done.']),
    prompt: 'go',
    session,
    tools: { note, launch: external({ forbidsRewind: true, execute: () => fail('rain') }), rewind: rewindTool },
  });
  expect(result.settlements.at(-1)?.outcome.status).toBe('ok');
  expect(session.read(notes)).toEqual([]);
});

describe('calls inside calls', () => {
  const none = z.object({});
  const back = { toolName: 'rewind', input: { reason: 'wrong', guidance: 'again' } };

  /** A turn in which `outer` makes calls, and which is then rewound. */
  async function rewound(inner: ToolSet, calls: readonly string[], effects: 'session' | 'external' = 'session') {
    const outer = tool({
      description: 'Makes calls.',
      effects,
      inputSchema: none,
      async execute(_input, ctx) {
        for (const toolName of calls) await dispatchCall({ tools: inner, parent: ctx, call: { toolName } });
        return 'made';
      },
    });
    const model = scriptedModel([{ toolName: 'outer' }, back, 'Done.']);
    const { settlements } = await runTurn({
      model,
      prompt: 'Go.',
      tools: { outer, rewind: rewindTool },
      logger: quiet,
    });
    return { outcome: settlements.at(-1)?.outcome, told: JSON.stringify(model.requests.at(-1)?.prompt.at(-1)) };
  }

  test('[R35] are compensated in reverse order, and those that cannot be are listed', async () => {
    const undone: unknown[] = [];
    const acting = (name: string) =>
      tool({
        description: 'Acts.',
        inputSchema: none,
        execute: () => name,
        compensate: (value) => void undone.push(value),
      });
    const wire = tool({ description: 'Pays.', inputSchema: none, execute: () => 'wired' });
    const { told } = await rewound({ book: acting('book'), rent: acting('rent'), wire }, ['book', 'wire', 'rent']);
    expect(undone).toEqual(['rent', 'book']);
    expect(told).toContain('These calls took effect outside and still stand:\\n- wire {}');
    expect(told).not.toMatch(/- (book|rent|outer)/);
  });

  test('[R35] of a tool that forbids rewinds deny the rewind', async () => {
    const wire = tool({ description: 'Pays.', inputSchema: none, forbidsRewind: true, execute: () => 'wired' });
    const { outcome } = await rewound({ wire }, ['wire'], 'external');
    expect(outcome).toMatchObject({ status: 'error', code: 'denied' });
    expect(outcome?.text).toContain('"wire" has taken effect and forbids going back past it');
  });

  test('[R35] that a rewind of their own turn undid are not undone again', async () => {
    const undone: unknown[] = [];
    const book = tool({
      ...{ description: 'Books.', inputSchema: none, execute: () => 'booked' },
      compensate: (value) => void undone.push(value),
    });
    const agent = tool({
      description: 'Works.',
      effects: 'session',
      inputSchema: none,
      async execute(_input, ctx) {
        const own = scriptedModel([{ toolName: 'book' }, back, 'Done.']);
        return (await ctx.runTurn({ prompt: 'Work.', model: own, tools: { book, rewind: rewindTool } })).response;
      },
    });
    const model = scriptedModel([{ toolName: 'agent' }, back, 'Done.']);
    await runTurn({ model, prompt: 'Go.', tools: { agent, rewind: rewindTool }, logger: quiet });
    expect(undone).toEqual(['booked']);
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).not.toContain('still stand');
  });
});

test('[R35] a tool that the current step no longer offers is still compensated and listed, and can still forbid the rewind', async () => {
  const undone: string[] = [];
  const acting = external({ compensate: (_value, input) => void undone.push(input.what) });
  const plain = external();
  const model = scriptedModel([[act('a'), act('b', 'plain')], back, 'Done.']);
  await runTurn({
    model,
    prompt: 'go',
    tools: ({ step }): ToolSet => (step === 1 ? { act: acting, plain, rewind: rewindTool } : { rewind: rewindTool }),
  });
  expect(undone).toEqual(['a']);
  expect(lastText(model, 2)).toContain('plain {"what":"b"}');
  const forbidding = await runTurn({
    model: scriptedModel([act('a'), back, 'Done.']),
    prompt: 'go',
    tools: ({ step }): ToolSet =>
      step === 1 ? { act: external({ forbidsRewind: true }), rewind: rewindTool } : { rewind: rewindTool },
  });
  expect(forbidding.settlements[1]?.outcome.status).toBe('error');
});

const asking = tool({ description: 'Asks.', inputSchema: what, effects: 'session', execute: () => pending() });

test('[R30] in a turn resumed after a suspension, a rewind still goes back to the start of the turn', async () => {
  const session = newSession();
  const tools: ToolSet = { ask: asking, note, rewind: rewindTool };
  const newId = sequentialIds();
  let board = ['e4'];
  const rewind = {
    checkpoint: () => [...board],
    restore: (saved: string[]) => {
      board = saved;
    },
  };
  const first = await runTurn({
    model: scriptedModel([[noted('one'), act('x', 'ask')]]),
    prompt: 'go',
    session,
    tools,
    newId,
    rewind,
  });
  expect(first.stop).toEqual({ reason: 'suspended' });
  board.push('e5');
  const model = scriptedModel([noted('two'), back, 'Done.']);
  await runTurn({
    model,
    transcript: Transcript.fromJSON(JSON.stringify(first.transcript)),
    session,
    tools,
    newId,
    rewind,
    answers: { 'call-2': { result: 'yes' } },
  });
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.readText('a.txt')).toBe('before');
  expect(board).toEqual(['e4']);
  expect(said(model, 2)).toHaveLength(2);
  expect(lastText(model, 2)).not.toContain('interrupted');
});

test('[R30] [R43] a rewind leaves an answer that came after the checkpoint to a call from before it', async () => {
  const session = newSession();
  const held = tool({
    description: 'Holds.',
    inputSchema: what,
    approval: true,
    effects: 'session',
    execute: () => '',
  });
  const options = { session, tools: { ask: asking, held, rewind: rewindTool } as ToolSet, newId: sequentialIds() };
  const { transcript } = await runTurn({
    ...options,
    model: scriptedModel([[act('x', 'ask'), act('y', 'ask'), act('z', 'held')], 'I wait.']),
    prompt: 'one',
    onPending: 'continue',
  });
  // Suspended after its checkpoint.
  await runTurn({ ...options, model: scriptedModel([[act('x', 'held')]]), transcript, prompt: 'two' });
  const model = scriptedModel([back, back, 'Done.']);
  const answers = {
    'call-1': { result: 'red' },
    'call-2': { error: 'nobody there' },
    'call-3': { deny: 'not you' },
    'call-4': { approve: true as const },
  };
  await runTurn({ ...options, model, transcript: Transcript.fromJSON(JSON.stringify(transcript)), answers });
  for (const request of [1, 2]) {
    const text = JSON.stringify(model.requests[request]?.prompt);
    for (const answer of ['red', 'nobody there', 'not you']) expect(text.split(answer)).toHaveLength(2);
    expect(lastText(model, request)).toContain('You went back to this point.');
  }
});

test('[R30] in a turn resumed on another session, a rewind goes back to the resumption, in state and view', async () => {
  const session = newSession();
  const tools: ToolSet = { ask: asking, note, rewind: rewindTool };
  const newId = sequentialIds();
  const first = await runTurn({
    model: scriptedModel([[noted('one'), act('x', 'ask')]]),
    prompt: 'go',
    session,
    tools,
    newId,
  });
  const other = StoredSession.fromJSON(JSON.stringify(session), { slices: [notes, audit] });
  const model = scriptedModel([noted('two'), back, 'Done.']);
  await runTurn({
    model,
    transcript: Transcript.fromJSON(JSON.stringify(first.transcript)),
    session: other,
    tools,
    newId,
    answers: { 'call-2': { result: 'yes' } },
  });
  expect(other.read(notes)).toEqual(['one']);
  expect(said(model, 2).slice(0, 3)).toEqual([
    'user: go',
    'assistant: call note, call ask',
    'tool: result one, result yes',
  ]);
});

test('[R30] a turn of another conversation on the same session removes the checkpoint', async () => {
  const session = newSession();
  const tools: ToolSet = { ask: asking, note, rewind: rewindTool };
  const begin = (text: string, newId: () => string) =>
    runTurn({ model: scriptedModel([[noted(text), act('x', 'ask')]]), prompt: 'go', session, tools, newId });
  const first = await begin('one', sequentialIds('a'));
  await begin('two', sequentialIds('b'));
  const model = scriptedModel([noted('three'), back, 'Done.']);
  await runTurn({ model, transcript: first.transcript, session, tools, answers: { 'a-2': { result: 'yes' } } });
  expect(session.read(notes)).toEqual(['one', 'two']);
  expect(said(model, 2)[1]).toBe('assistant: call note, call ask');
});

const tell = tool({
  description: 'Tells the session.',
  inputSchema: what,
  effects: 'session',
  execute: (input, ctx) => ctx.session.dispatch({ type: 'noted', what: input.what }),
});

test('[R30] [R49] a turn with rewinds that is killed at any write has the same result, and undoes nothing twice', async () => {
  const report = await killAtEveryBoundary(() => {
    const world: string[] = [];
    const book = external({
      idempotent: true,
      execute: (input, ctx) => {
        if (!world.includes(`book ${ctx.idempotencyKey}`)) world.push(`book ${ctx.idempotencyKey}`);
        return input.what;
      },
      compensate: (_value, _input, ctx) => {
        if (!world.includes(ctx.idempotencyKey)) world.push(ctx.idempotencyKey);
      },
    });
    const script = [
      act('a', 'tell'),
      [act('b', 'tell'), act('c', 'book'), back],
      act('d', 'tell'),
      [back, act('e', 'tell')],
      act('f', 'tell'),
      'Done.',
    ];
    return {
      turn: () => ({ prompt: 'go', tools: { tell, book, rewind: rewindTool }, logger: quiet }),
      model: (replies) => scriptedModel(script.slice(replies)),
      session: () => createSession({ slices: [notes], logger: quiet }),
      effects: () => world,
    };
  });
  expect(report.boundaries).toBeGreaterThan(15);
  expect(new Set(report.tries.map(({ outcome }) => outcome))).toEqual(new Set(['same']));
});

test('[R35] a compensation that a crash interrupted is not run again, and is reported', async () => {
  let undone = 0;
  const book = external({
    compensate() {
      undone++;
    },
  });
  const journal = crashingJournal(9);
  const tools: ToolSet = { act: book, rewind: rewindTool };
  const options = { tools, logger: quiet, newId: sequentialIds() };
  await expect(
    runTurn({ ...options, journal, prompt: 'go', model: scriptedModel([act('a'), back]), session: newSession() }),
  ).rejects.toThrow('killed');
  expect(journal.kept.entries.at(-1)).toEqual({ kind: 'compensating', callId: 'call-1' });
  const model = scriptedModel(['Done.']);
  await runTurn({ ...options, ...journal.kept.restore(newSession()), journal: journal.kept, model });
  expect(undone).toBe(1);
  expect(lastText(model, 0)).toContain('act {"what":"a"} (undoing it was interrupted)');
});

test('[R34] after a crash the host’s own state cannot be restored: an unfinished rewind says so', async () => {
  const journal = crashingJournal(7);
  const tools: ToolSet = { tell, rewind: rewindTool };
  const restored: unknown[] = [];
  const rewind = { checkpoint: () => 'saved', restore: (saved: string) => void restored.push(saved) };
  const script = [act('a', 'tell'), back, 'Done.'];
  await expect(
    runTurn({ tools, rewind, journal, prompt: 'go', model: scriptedModel(script), session: newSession() }),
  ).rejects.toThrow('killed');
  const model = scriptedModel(['Done.']);
  const { transcript, session } = journal.kept.restore(newSession());
  await runTurn({ tools, rewind, model, transcript, session });
  expect(session.read(notes)).toEqual(['a']);
  expect(lastText(model, 0)).toContain('Nothing was undone');
});

test('[R30] after a crash between the rewind call and the rewind the model reads that nothing was undone', async () => {
  const session = newSession();
  const tools: ToolSet = { note, rewind: rewindTool };
  const whole = await runTurn({
    model: scriptedModel([noted('one'), back, 'Done.']),
    prompt: 'go',
    session: newSession(),
    tools,
  });
  const { entries } = whole.transcript;
  const cut = entries.slice(
    0,
    entries.findIndex(({ kind }) => kind === 'rewind'),
  );
  session.dispatch({ type: 'noted', what: 'one' });
  const model = scriptedModel(['Done.']);
  await runTurn({ model, transcript: Transcript.fromJSON({ version: 1, entries: cut }), session, tools });
  expect(session.read(notes)).toEqual(['one']);
  expect(said(model, 0).slice(0, 3)).toEqual(['user: go', 'assistant: call note', 'tool: result one']);
  expect(lastText(model, 0)).toContain('Nothing was undone');
});

test('[R29] a rewind call that is unsettled after a crash fails, because its checkpoint is gone', async () => {
  const tools: ToolSet = { note, rewind: rewindTool };
  const whole = await runTurn({
    model: scriptedModel([noted('one'), back, 'Done.']),
    prompt: 'go',
    session: newSession(),
    tools,
  });
  const cut = whole.transcript.entries.slice(
    0,
    whole.transcript.entries.findLastIndex(({ kind }) => kind === 'rewind') - 1,
  );
  const model = scriptedModel(['Done.']);
  const result = await runTurn({
    model,
    transcript: Transcript.fromJSON({ version: 1, entries: cut }),
    session: newSession(),
    tools,
  });
  expect(result.settlements.at(-1)?.outcome).toMatchObject({ status: 'error', code: 'denied' });
  expect(said(model, 0)).toHaveLength(5);
});

test("[R30] the value of the rewind call is the model's input", async () => {
  const result = await runTurn({ model: scriptedModel([back, 'Done.']), prompt: 'go', tools: { rewind: rewindTool } });
  expect(result.settlements[0]?.outcome).toEqual(
    expect.objectContaining({ status: 'ok', value: { reason: 'a dead end', guidance: 'go left' } }),
  );
});
