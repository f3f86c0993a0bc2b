import type { LanguageModelV4Content, LanguageModelV4Message } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { BatchOptions } from '../../src/contract/turn-settings.ts';
import {
  blocked,
  createSession,
  fail,
  pending,
  rewindTool,
  runTurn,
  type Session,
  slice,
  type ToolSet,
  type TurnResult,
  tool,
} from '../../src/index.ts';
import type { Answer } from '../../src/results/answer.ts';
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts';
import { type MemoryJournal, memoryJournal } from '../../src/testing/memory-journal.ts';
import { type ScriptedModel, type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import type { Entry } from '../../src/transcript/entry.ts';
import type { Journal } from '../../src/transcript/journal.ts';
import { readProgress } from '../../src/transcript/progress.ts';
import { Transcript } from '../../src/transcript/transcript.ts';

/** Why a provider would refuse messages: each call must be followed directly by exactly one result, and each result needs its call. */
function problemOf(messages: readonly LanguageModelV4Message[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const asked = message.role === 'assistant' ? ownCalls(message) : [];
    const next = messages[index + 1];
    const answered = next?.role === 'tool' ? resultIds(next) : [];
    if (asked.join() !== answered.join())
      return `message ${index} asks for [${asked}] and is answered with [${answered}]`;
    if (next?.role === 'tool' && answered.length === 0) return `message ${index + 1} has no results`;
    if (message.content.length === 0) return `message ${index} is empty`;
    if (message.role === 'assistant' && providerCalls(message).join() !== insideResults(message).join())
      return `message ${index} has calls of the provider without their results`;
    for (const id of asked) {
      if (seen.has(id)) return `call ${id} is shown twice`;
      seen.add(id);
    }
  }
  return messages[0]?.role === 'tool' ? 'results come first' : undefined;
}

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;

function ownCalls({ content }: AssistantMessage): string[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : [],
  );
}

function providerCalls({ content }: AssistantMessage): string[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted === true ? [part.toolCallId] : [],
  );
}

function insideResults({ content }: AssistantMessage): string[] {
  return content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []));
}

function resultIds(message: Extract<LanguageModelV4Message, { role: 'tool' }>): string[] {
  return message.content.map((part) => (part.type === 'tool-result' ? part.toolCallId : part.type));
}

function assertPaired(messages: readonly LanguageModelV4Message[]): void {
  const problem = problemOf(messages);
  if (problem !== undefined) throw new Error(`${problem}: ${JSON.stringify(messages)}`);
}

/** Asserts that each call has one end, or waits for an answer. */
function assertSettledOnce(entries: readonly Entry[]): void {
  const waiting = readProgress(entries).waiting;
  const ends = new Map<string, number>();
  for (const entry of entries)
    if (entry.kind === 'settled') ends.set(entry.settlement.callId, (ends.get(entry.settlement.callId) ?? 0) + 1);
  const asked = entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : []));
  expect(new Set(asked).size, 'ids are unique').toBe(asked.length);
  const wrong = asked.filter((callId) => (ends.get(callId) ?? 0) !== (waiting.has(callId) ? 0 : 1));
  expect(wrong, 'calls that do not settle once').toEqual([]);
  expect([...ends.keys()].filter((callId) => !asked.includes(callId))).toEqual([]);
}

interface Noted {
  readonly type: 'noted';
  readonly what: string;
}
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: Noted) => [...all, what] },
});

const TOOLS = [
  'look',
  'note',
  'act',
  'boom',
  'refuse',
  'ask',
  'hurry',
  'gate',
  'done',
  'bad_end',
  'hand',
  'rewind',
  'leave',
  'nobody',
] as const;
type ToolName = (typeof TOOLS)[number];

const what = z.object({ what: z.string() });

/** One tool for each way in which a call may end. `leave` aborts the turn from inside. */
function makeTools(abort: () => void): ToolSet {
  return {
    look: tool({
      description: 'Looks.',
      inputSchema: what,
      effects: 'none',
      keepLatest: 'screen',
      execute: async (input) => `screen ${input.what}`,
    }),
    note: tool({
      description: 'Notes.',
      inputSchema: what,
      effects: 'session',
      keepLatest: 'notes',
      execute(input, ctx) {
        ctx.session.dispatch({ type: 'noted', what: input.what });
        return ctx.session.read(notes).length;
      },
    }),
    act: tool({
      description: 'Acts outside.',
      inputSchema: what,
      execute(input, ctx) {
        ctx.session.dispatch({ type: 'noted', what: `acted ${input.what}` });
        return 'acted';
      },
    }),
    boom: tool({
      description: 'Throws.',
      inputSchema: what,
      execute(input, ctx) {
        ctx.session.dispatch({ type: 'noted', what: `never ${input.what}` });
        throw new Error('boom');
      },
    }),
    refuse: tool({ description: 'Refuses.', inputSchema: what, effects: 'none', execute: () => blocked('not now') }),
    ask: tool({ description: 'Asks somebody.', inputSchema: what, effects: 'session', execute: () => pending() }),
    hurry: tool({ description: 'Asks soon.', inputSchema: what, execute: () => pending({ expiresInMs: 1_000 }) }),
    gate: tool({ description: 'Needs approval.', inputSchema: what, approval: true, execute: () => 'through' }),
    done: tool({ description: 'Ends.', inputSchema: what, terminal: true, execute: (input) => input.what }),
    bad_end: tool({ description: 'Ends badly.', inputSchema: what, terminal: true, execute: () => fail('no') }),
    hand: tool({ description: 'Hands over.', inputSchema: what, transition: true, execute: () => 'there' }),
    rewind: rewindTool,
    leave: tool({
      description: 'Aborts the turn.',
      inputSchema: what,
      execute(_input, ctx) {
        abort();
        return ctx.abortSignal.aborted ? new Promise<string>(() => {}) : 'stayed';
      },
    }),
  };
}

interface Call {
  readonly toolName: ToolName;
  readonly input: 'fits' | 'does not fit' | 'no JSON';
  readonly id: 'own' | 'repeated' | 'none';
}

type Reply =
  | { readonly kind: 'text'; readonly text: string; readonly cut: boolean }
  | { readonly kind: 'calls'; readonly calls: readonly Call[]; readonly said: string; readonly signed: boolean }
  | { readonly kind: 'provider ran' }
  | { readonly kind: 'error' }
  | { readonly kind: 'abort' };

interface Life {
  /** The write to the journal at which the process dies. */
  readonly diesAt: number;
  readonly kept: boolean;
  readonly answers: readonly ('result' | 'error' | 'approve' | 'deny' | 'none')[];
  readonly waits: boolean;
  readonly asksAnew: boolean;
  /** If the process was not killed before, the next part runs in the same process. */
  readonly sameProcess: boolean;
}

interface Scenario {
  readonly replies: readonly Reply[];
  readonly lives: readonly Life[];
  readonly batch: BatchOptions;
  readonly onPending: 'suspend' | 'continue';
  readonly contract: boolean;
  readonly rewinds: number;
  readonly observes: boolean;
}

const callArbitrary: fc.Arbitrary<Call> = fc.record({
  toolName: fc.constantFrom(...TOOLS),
  input: fc.oneof(
    { weight: 8, arbitrary: fc.constant('fits' as const) },
    { weight: 1, arbitrary: fc.constantFrom('does not fit' as const, 'no JSON' as const) },
  ),
  id: fc.constantFrom('own', 'own', 'repeated', 'none'),
});
const replyArbitrary: fc.Arbitrary<Reply> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      calls: fc.array(callArbitrary, { minLength: 1, maxLength: 4 }),
      said: fc.constantFrom('', 'I will.'),
      signed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('text' as const),
      text: fc.constantFrom('', 'Hm.'),
      cut: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Reply>({ kind: 'provider ran' }, { kind: 'error' }, { kind: 'abort' }) },
);
const lifeArbitrary: fc.Arbitrary<Life> = fc.record({
  diesAt: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1_000)),
  kept: fc.boolean(),
  answers: fc.array(fc.constantFrom('result', 'error', 'approve', 'deny', 'none'), { minLength: 1, maxLength: 3 }),
  waits: fc.boolean(),
  asksAnew: fc.boolean(),
  sameProcess: fc.boolean(),
});
const scenarioArbitrary: fc.Arbitrary<Scenario> = fc.record({
  replies: fc.array(replyArbitrary, { minLength: 1, maxLength: 9 }),
  lives: fc.array(lifeArbitrary, { maxLength: 6 }),
  batch: fc.record({
    onError: fc.constantFrom('continue', 'cancel-rest'),
    afterTerminal: fc.constantFrom('skip', 'run'),
    history: fc.constantFrom('keep', 'trim'),
  }),
  onPending: fc.constantFrom('suspend', 'continue'),
  contract: fc.boolean(),
  rewinds: fc.integer({ min: 0, max: 3 }),
  observes: fc.boolean(),
});

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

class Killed extends Error {}

/** Accepts writes until it dies at one, before or after that one is stored. It throws synchronously or rejects; both count. */
function mortal(kept: MemoryJournal, life: Life): Journal {
  let writes = 0;
  const write = (keep: () => void | Promise<void>): void | Promise<void> => {
    writes++;
    const written = writes < life.diesAt || (life.kept && writes === life.diesAt) ? keep() : undefined;
    if (writes >= life.diesAt) throw new Killed();
    return written;
  };
  return {
    append: async (entries) => write(() => kept.append(entries)),
    settle: (entry, staged) => write(() => kept.settle(entry, staged)),
  };
}

/** Runs a scenario to its end, through crashes, aborts, suspensions and new prompts. */
class World {
  readonly #scenario: Scenario;
  readonly kept: MemoryJournal = memoryJournal();
  readonly model: ScriptedModel;
  readonly #clock: FakeClock = fakeClock();
  readonly #newId = sequentialIds();
  #host = new AbortController();
  #replied = 0;
  #alive: { readonly transcript: Transcript; readonly session: Session } | undefined;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.model = scriptedModel(() => this.#reply());
  }

  async live(): Promise<void> {
    let prompt: string | undefined = 'Go.';
    const lives = [...this.#scenario.lives];
    for (let turns = 0; turns < 40; turns++) {
      const life = lives.shift() ?? LAST_LIFE;
      const before = this.kept.entries.length;
      const ended = await this.#once(life, prompt);
      // A message that was never stored has to be sent again.
      if (ended === 'interrupted') prompt = this.kept.entries.length === before ? prompt : undefined;
      else if (ended === 'waits') prompt = life.asksAnew ? 'Never mind.' : undefined;
      else if (lives.length === 0) return;
      else prompt = 'And now?';
    }
    throw new Error('The scenario comes to no end.');
  }

  /** Runs the process until it ends or is killed. */
  async #once(life: Life, prompt: string | undefined): Promise<'interrupted' | 'waits' | 'ended'> {
    if (life.waits) await this.#clock.advance(2_000);
    this.#host = new AbortController();
    const alive = life.sameProcess ? this.#alive : undefined;
    const { transcript, session } =
      alive ?? this.kept.restore(createSession({ slices: [notes], clock: this.#clock, logger: quiet }));
    this.#alive = { transcript, session };
    assertPaired(transcript.view());
    try {
      const result = await this.#run(life, prompt, transcript, session);
      this.#check(result, session);
      if (result.stop.reason === 'aborted') return 'interrupted';
      return result.stop.reason === 'suspended' ? 'waits' : 'ended';
    } catch (error) {
      const { name, message } = error as Error;
      if (error instanceof Killed) this.#alive = undefined;
      if (error instanceof Killed || message === 'The model is down.') return 'interrupted';
      if (['MaxConsecutiveNudgesExceeded', 'MaxInvocationsExceeded'].includes(name)) return 'ended';
      throw error;
    }
  }

  async #run(life: Life, prompt: string | undefined, transcript: Transcript, session: Session): Promise<TurnResult> {
    const { batch, onPending, contract, rewinds, observes } = this.#scenario;
    return await runTurn({
      model: this.model,
      tools: makeTools(() => this.#host.abort()),
      session,
      transcript,
      batch,
      onPending,
      answers: this.#answers(life),
      rewind: { max: rewinds },
      journal: mortal(this.kept, life),
      clock: this.#clock,
      newId: this.#newId,
      signal: this.#host.signal,
      maxSteps: 8,
      ...(prompt === undefined ? {} : { prompt }),
      ...(contract ? { terminating: { toolIds: ['done'], maxInvocations: 7 } } : {}),
      ...(observes ? { observe: () => 'It rains.' } : {}),
    });
  }

  #answers(life: Life): Record<string, Answer> {
    const progress = readProgress(this.kept.entries);
    const answers: Record<string, Answer> = {};
    for (const [index, [callId, { settlement }]] of [...progress.waiting].entries()) {
      const kind = life.answers[index % life.answers.length] ?? 'none';
      const isApproval = settlement.outcome.status === 'pending' && settlement.outcome.kind === 'approval';
      if (kind === 'none' || progress.answers.has(callId)) continue;
      if (isApproval) answers[callId] = kind === 'result' || kind === 'approve' ? { approve: true } : { deny: 'no' };
      else answers[callId] = kind === 'result' || kind === 'approve' ? { result: 'yes' } : { error: 'nobody home' };
    }
    return answers;
  }

  /** The state in memory is the stored one. */
  #check({ transcript }: TurnResult, session: Session): void {
    const restored = this.kept.restore(createSession({ slices: [notes] }));
    expect(restored.transcript.view()).toEqual(Transcript.fromJSON(JSON.stringify(transcript)).view());
    expect(transcript.view()).toEqual(restored.transcript.view());
    expect(session.read(notes)).toEqual(restored.session.read(notes));
  }

  #reply(): ScriptedReply | Promise<ScriptedReply> {
    const reply = this.#scenario.replies[this.#replied++];
    switch (reply?.kind) {
      case undefined:
        return 'The end.';
      case 'text':
        return reply.cut
          ? { text: reply.text, finishReason: { unified: 'length', raw: undefined } }
          : { text: reply.text };
      case 'error':
        return new Error('The model is down.');
      case 'abort':
        this.#host.abort();
        return new Promise<ScriptedReply>(() => {});
      case 'provider ran':
        return { content: searched(`srv-${this.#replied}`) };
      case 'calls':
        return { content: reply.calls.map((call, index) => this.#toCall(call, index, reply.signed)), text: reply.said };
    }
  }

  #toCall(call: Call, index: number, signed: boolean): LanguageModelV4Content {
    const input = {
      fits: call.toolName === 'rewind' ? { reason: 'r', guidance: 'g' } : { what: `${this.#replied}.${index}` },
      'does not fit': { what: 7 },
      'no JSON': undefined,
    }[call.input];
    return {
      type: 'tool-call',
      toolCallId: { own: `p-${this.#replied}-${index}`, repeated: 'p', none: '' }[call.id],
      toolName: call.toolName,
      input: input === undefined ? '{"what":' : JSON.stringify(input),
      ...(signed ? { providerMetadata: { acme: { signature: 'x' } } } : {}),
    };
  }
}

/** A scenario without crashes in which every approval is given. */
const LAST_LIFE: Life = {
  diesAt: 1_000_000,
  kept: false,
  answers: ['result'],
  waits: false,
  asksAnew: false,
  sameProcess: false,
};

/** A search that the provider ran itself, next to a call of a tool. */
function searched(toolCallId: string): LanguageModelV4Content[] {
  return [
    { type: 'tool-call', toolCallId, toolName: 'look', input: '{"what":"web"}', providerExecuted: true },
    { type: 'tool-result', toolCallId, toolName: 'look', result: 'found' },
    { type: 'tool-call', toolCallId: 'q', toolName: 'note', input: '{"what":"found"}' },
  ];
}

function says(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function asks(...ids: string[]): LanguageModelV4Message {
  return {
    role: 'assistant',
    content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'look', input: {} })),
  };
}

function answers(...ids: string[]): LanguageModelV4Message {
  const output = { type: 'text' as const, value: 'x' };
  return {
    role: 'tool',
    content: ids.map((toolCallId) => ({ type: 'tool-result', toolCallId, toolName: 'look', output })),
  };
}

async function holds(scenario: Scenario): Promise<void> {
  const world = new World(scenario);
  await world.live();
  for (const { prompt } of world.model.requests) assertPaired(prompt);
  const { entries } = world.kept;
  const growing = new Transcript();
  for (const entry of entries) {
    growing.push(entry);
    assertPaired(growing.view());
  }
  assertSettledOnce(entries);
}

const RUNS = 150;

test.each<[string, LanguageModelV4Message[]]>([
  ['a call without a result', [asks('a')]],
  ['a call whose result comes later', [asks('a'), says('wait'), answers('a')]],
  ['two results', [asks('a'), answers('a', 'a')]],
  ['results out of order', [asks('a', 'b'), answers('b', 'a')]],
  ['a result without a call', [says('hm'), answers('a')]],
  ['a second message of results', [asks('a'), answers('a'), answers('a')]],
])('the check itself refuses %s', (_what, messages) => {
  expect(problemOf(messages)).toBeDefined();
  expect(problemOf([asks('a', 'b'), answers('a', 'b'), says('x'), asks('c'), answers('c')])).toBeUndefined();
});

test('[R38] through abort, crash, trim, rewind, condensing, rejection and expiry each call is followed by exactly one result', async () => {
  await fc.assert(fc.asyncProperty(scenarioArbitrary, holds), { numRuns: RUNS });
});
