import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Answer,
  dispatchCall,
  fail,
  type PendingCall,
  pending,
  rewindTool,
  runTurn,
  type Settlement,
  type Tool,
  type ToolContext,
  type ToolSet,
  type TurnOptions,
  type TurnResult,
  tool,
} from '../../src/index.ts';
import { crashOn, ProcessKilled } from '../../src/testing/crashing-journal.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { problemOfEntries, problemOfMessages } from '../../src/testing/valid-history.ts';

const inputSchema = z.object({ note: z.string().optional() });
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const pick = fc.constantFrom;
/** What one call of the batch is and does. */
const kind = fc.record({
  role: pick('plain', 'plain', 'terminal', 'transition', 'listed', 'rewind'),
  effects: pick('none', 'session', 'external'),
  idempotent: fc.boolean(),
  approval: pick('never', 'always', 'decided'),
  waits: pick('never', 'never', 'result', 'asks', 'asks twice'),
  end: pick('ok', 'ok', 'ok', 'fail', 'throw'),
  inside: pick('nothing', 'nothing', 'call', 'turn', 'turn that ends'),
  keepLatest: fc.boolean(),
});
type Kind = typeof kind extends fc.Arbitrary<infer T> ? T : never;

/** A batch, and what the host and the process do: which of the waiting calls each round answers, as bits, and how. */
const scenario = fc.record({
  kinds: fc.array(kind, { minLength: 1, maxLength: 5 }),
  batch: fc.record({
    onError: pick('continue', 'continue', 'cancel-rest'),
    afterTerminal: pick('skip', 'run'),
    transitions: pick('in-place', 'last'),
  }),
  onPending: pick('suspend', 'suspend', 'continue'),
  contract: fc.boolean(),
  rounds: fc.array(fc.integer({ min: 1, max: 31 }), { maxLength: 4 }),
  answers: fc.array(pick('approve', 'approve', 'approve', 'edit', 'bad edit', 'deny'), { minLength: 5, maxLength: 5 }),
  repeats: fc.boolean(),
  promptAt: pick(-1, 0, 1),
  expires: fc.boolean(),
  abortAt: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 4 }),
  kill: fc.option(fc.record({ at: fc.integer({ min: 1, max: 25 }), when: pick('before', 'after') })),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

interface World {
  /** The calls whose tools acted, in order. */
  readonly acted: string[];
  readonly entered: string[];
  readonly abort: () => void;
  readonly wait: { readonly expiresInMs?: number };
}

function asksNow({ waits }: Kind, { entered }: World, { answer, idempotencyKey }: ToolContext): boolean {
  if (waits === 'asks') return answer === undefined;
  return waits === 'asks twice' && (answer === undefined || entered.filter((id) => id === idempotencyKey).length < 3);
}

function toolOf(one: Kind, world: World): Tool<never, unknown> | object {
  const approval = one.approval === 'decided' ? () => true : one.approval === 'always';
  if (one.role === 'rewind') return { ...rewindTool, approval };
  const { effects, idempotent } = one;
  const inner = tool({ ...{ description: 'Ends.', inputSchema, effects, terminal: true }, execute: () => 'inner' });
  return tool({
    ...{ description: 'Acts.', inputSchema, effects, idempotent, approval },
    ...(one.role === 'terminal' ? { terminal: true } : {}),
    ...(one.role === 'transition' ? { transition: true } : {}),
    ...(one.keepLatest ? { keepLatest: 'slot' } : {}),
    async execute(_input, ctx) {
      world.entered.push(ctx.idempotencyKey);
      world.abort();
      if (one.waits === 'result' && one.role !== 'terminal') return pending(world.wait);
      if (one.role !== 'terminal' && asksNow(one, world, ctx)) return pending({ asks: true, ...world.wait });
      world.acted.push(ctx.idempotencyKey);
      const tools = { inner };
      if (one.inside === 'call') await dispatchCall({ tools, call: { toolName: 'inner', input: {} }, parent: ctx });
      const model = scriptedModel([{ toolName: 'inner' }]);
      const endsParent = one.inside === 'turn that ends';
      if (one.inside.startsWith('turn')) await ctx.runTurn({ model, tools, prompt: 'Go.', endsParent });
      if (one.end === 'throw') throw new Error('broken');
      return one.end === 'fail' ? fail('no') : `done ${ctx.idempotencyKey}`;
    },
  });
}

/** Runs a scenario to its end, and once more. */
async function live(given: Scenario) {
  const clock = fakeClock();
  let bodies = 0;
  let aborting = new AbortController();
  const world: World = {
    acted: [],
    entered: [],
    abort: () => void (++bodies === given.abortAt && aborting.abort()),
    wait: given.expires ? { expiresInMs: 1_500 } : {},
  };
  const names = given.kinds.map(({ role }, at) => `${role}-${at}`);
  const finish = tool({ ...{ description: 'Ends.', inputSchema, terminal: true }, execute: () => 'finished' });
  const tools = {
    finish,
    ...Object.fromEntries(given.kinds.map((one, at) => [names[at], toolOf(one, world)])),
  } as ToolSet;
  const toolIds = ['finish', ...names.filter((name) => name.startsWith('listed'))];
  const calls = names.map((toolName) => {
    return { toolName, input: toolName.startsWith('rewind') ? { reason: 'stuck', guidance: 'up' } : {} };
  });
  const kept = memoryJournal();
  let journal = crashOn(kept, given.kill?.at ?? Number.POSITIVE_INFINITY, given.kill?.when ?? 'before');
  let killed = false;
  let life = kept.restore();
  const run = async (more: Partial<TurnOptions>): Promise<TurnResult> => {
    aborting = new AbortController();
    const { transcript, session } = life;
    let calledBefore = transcript.entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : [])).length;
    const model = scriptedModel(({ prompt }) => {
      expect(problemOfMessages(prompt)).toBeUndefined();
      return kept.entries.some((entry) => entry.kind === 'reply') ? { toolName: 'finish' } : calls;
    });
    const begun = transcript.entries.some((entry) => entry.kind === 'message');
    return await runTurn({
      ...{ model, tools, clock, journal, transcript, session, logger: quiet, signal: aborting.signal },
      ...{ onPending: given.onPending, batch: given.batch, newId: () => `call-${++calledBefore}` },
      ...(given.contract ? { terminating: { toolIds } } : {}),
      ...(begun ? more : { prompt: 'Go.' }),
    });
  };
  const survive = async (more: Partial<TurnOptions>): Promise<TurnResult> => {
    try {
      return await repeat(more);
    } catch (error) {
      if (!(error instanceof ProcessKilled)) throw error;
      killed = true;
      journal = crashOn(kept, Number.POSITIVE_INFINITY, 'before');
      life = kept.restore();
      return given.repeats ? await repeat(more) : await run({});
    }
  };
  /** A repeated answer may come too late. */
  const repeat = async (more: Partial<TurnOptions>): Promise<TurnResult> => {
    try {
      return await run(more);
    } catch (error) {
      if (error instanceof Error && error.message.includes('answers.call-')) return await run({});
      throw error;
    }
  };
  let result = await survive({});
  for (let round = 0; result.pending.length > 0 || result.stop.reason === 'aborted'; round++) {
    if (round > 30) throw new Error('It does not end.');
    if (given.expires && round === 2) await clock.advance(2_000);
    const chosen = result.pending.filter((_call, at) => ((given.rounds[round] ?? 31) >> at) & 1);
    const answers = Object.fromEntries(chosen.map((call) => [call.callId, answerTo(given, call)]));
    const more = { answers, ...(given.promptAt === round ? { prompt: 'And?' } : {}) };
    result = result.stop.reason === 'aborted' ? await survive({}) : await survive(more);
    if (given.repeats && !result.pending.some(({ callId }) => callId in answers)) await survive({ answers });
  }
  const before = JSON.stringify([kept.entries, world]);
  const again = await run({});
  return { world, kept, result, killed, isSameAgain: JSON.stringify([kept.entries, world]) === before, again };
}

function answerTo({ answers }: Scenario, { callId, kind, toolName }: PendingCall): Answer {
  if (kind !== 'approval') return { result: 'yes' };
  const how = answers[placeOf(callId)];
  if (how === 'deny') return { deny: 'not now' };
  if (how === 'bad edit') return { approve: true, input: { wrong: 1 } };
  return how === 'edit' && !toolName.startsWith('rewind') ? { approve: true, input: { note: 'x' } } : { approve: true };
}

const placeOf = (callId: string): number => Number(callId.slice('call-'.length)) - 1;
const codeOf = ({ outcome }: Settlement): string => (outcome.status === 'error' ? outcome.code : outcome.status);
const settledIn = ({ kept }: Awaited<ReturnType<typeof live>>): readonly Settlement[] =>
  kept.entries.flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement] : []));

const UNRUN = new Set(['skipped', 'cancelled', 'terminal_already_called', 'transition_already_called', 'denied']);

test('[R1] [R10] [R44] [R46] [R49] calls of a batch settle once, act once and say so, however they wait, are answered, aborted or killed', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const lived = await live(given);
      const { world, kept, result, killed } = lived;
      expect(problemOfEntries(kept.entries) ?? problemOfMessages(result.transcript.view())).toBeUndefined();
      expect(lived.isSameAgain).toBe(true);
      expect(lived.again.stop).toEqual(result.stop);
      const settled = settledIn(lived);
      const succeeded: string[] = [];
      for (const [at, one] of given.kinds.entries()) {
        const callId = `call-${at + 1}`;
        const [end, ...more] = settled.filter((settlement) => settlement.callId === callId);
        if (end === undefined || more.length > 0) throw new Error(`${callId} has ${more.length} ends too many.`);
        const acts = world.acted.filter((id) => id === callId).length;
        const { status, text } = end.outcome;
        const mayRunAgain = killed && (one.effects !== 'external' || one.idempotent);
        expect(acts, `runs of ${callId}`).toBeLessThanOrEqual(mayRunAgain ? 2 : 1);
        const isUnrun = UNRUN.has(codeOf(end)) || text.includes('did not run');
        const isTold = text.includes('may have taken effect') || (killed && one.effects !== 'external');
        if (isUnrun && !isTold) expect(acts, `${callId}: ${text}`).toBe(0);
        const isAnswered = one.waits === 'result' || one.role === 'rewind';
        if (status === 'ok' && !isAnswered) expect(acts, `${callId}: ${text}`).toBeGreaterThan(0);
        const isPlain = one.role === 'plain' || (one.role === 'listed') !== given.contract;
        if (status === 'ok' && !isAnswered && one.inside !== 'turn that ends')
          if (one.role === 'transition' || !isPlain) succeeded.push(one.role);
      }
      expect(new Set(succeeded).size, 'of each role that ends the turn, one call succeeds').toBe(succeeded.length);
    }),
    { numRuns: 150 },
  );
});

test('[R44] a batch that is approved as a whole ends as if no call had waited', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const usual = {
        rounds: [],
        answers: [],
        repeats: false,
        promptAt: -1 as const,
        expires: false,
        abortAt: null,
        kill: null,
      };
      const batch = { ...given.batch, onError: 'continue' } as const;
      const end = async (approval: Kind['approval']) => {
        // Calls that wait for approval run one by one.
        const kinds = given.kinds.map((one): Kind => {
          return { ...one, approval, waits: 'never', effects: one.effects === 'none' ? 'session' : one.effects };
        });
        const lived = await live({ ...given, ...usual, batch, kinds, onPending: 'suspend' });
        const { stop, response, transcript } = lived.result;
        const outcomes = settledIn(lived).map(({ callId, outcome }) => [callId, outcome]);
        return { stop, response, view: transcript.view(), acted: lived.world.acted, outcomes: outcomes.sort() };
      };
      expect(await end('always')).toEqual(await end('never'));
    }),
    { numRuns: 80 },
  );
});
