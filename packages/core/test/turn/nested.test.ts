import { expect, test } from 'vitest';
import { z } from 'zod';
import type { NestedTurnOptions } from '../../src/contract/tool-context.ts';
import { memoryFilesystem } from '../../src/doors/files.ts';
import {
  createBudget,
  createSession,
  fail,
  rewindTool,
  runTurn,
  type Session,
  slice,
  type ToolContext,
  type ToolSet,
  type TurnResult,
  tool,
} from '../../src/index.ts';
import { fakeClock, settled } from '../../src/testing/fake-clock.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { Transcript } from '../../src/transcript/transcript.ts';

interface Noted {
  readonly type: 'noted';
  readonly what: string;
}
const notes = slice<readonly string[]>('notes', {
  initial: [],
  on: { noted: (all, { what }: Noted) => [...all, what] },
});
const what = z.object({ what: z.string() });
const none = z.object({});
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function newSession(): Session {
  return createSession({ slices: [notes], filesystem: memoryFilesystem(), logger: quiet });
}

const note = tool({
  description: 'Notes.',
  inputSchema: what,
  effects: 'session',
  async execute(input, ctx) {
    ctx.session.dispatch({ type: 'noted', what: input.what });
    await ctx.filesystem.writeText(`${input.what}.txt`, input.what);
    return input.what;
  },
});
const done = tool({
  description: 'Ends.',
  inputSchema: what,
  terminal: true,
  effects: 'none',
  execute: (input) => `inner: ${input.what}`,
});
const ends = { toolName: 'done', input: { what: 'found' } };

type Effects = 'none' | 'session';

/** A tool whose call runs a turn and returns `after` of the result. */
function delegate(
  options: (ctx: ToolContext) => NestedTurnOptions,
  after: (result: TurnResult, ctx: ToolContext) => unknown = ({ response }) => response,
  effects: Effects = 'session',
) {
  return tool({
    description: 'Delegates.',
    inputSchema: none,
    effects,
    execute: async (_input, ctx) => after(await ctx.runTurn(options(ctx)), ctx),
  });
}

const delegates = { toolName: 'delegate' };
/** One script for the nested and the outer turn: the outer asks first, then the nested one, then the outer again. */
const outerThenInner = (inner: readonly ScriptedReply[]) => scriptedModel([delegates, ...inner, 'Outer done.']);

test('[R42] a nested turn has the outer model, and a terminal tool ends it and not the parent', async () => {
  const model = outerThenInner([ends]);
  const result = await runTurn({
    model,
    prompt: 'outer',
    tools: { delegate: delegate(() => ({ prompt: 'inner', tools: { done } })) },
  });
  expect(result.response).toBe('Outer done.');
  expect(result.settlements.map(({ outcome }) => outcome.text)).toEqual(['inner: found']);
  expect(model.requests[1]?.prompt.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: 'inner' }] });
  expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(['done']);
});

test('[R42] a nested turn joins the draft: committed with the call', async () => {
  const session = newSession();
  let during: readonly string[] | undefined;
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { note } }),
      (_result, ctx) => {
        during = session.read(notes);
        return ctx.session.read(notes).join();
      },
    ),
  };
  const model = outerThenInner([{ toolName: 'note', input: { what: 'a' } }, 'Inner done.']);
  const result = await runTurn({ model, prompt: 'outer', session, tools });
  expect(during).toEqual([]);
  expect(result.settlements[0]?.outcome.text).toBe('a');
  expect(session.read(notes)).toEqual(['a']);
  expect(await session.filesystem.readText('a.txt')).toBe('a');
});

test('[R42] a nested turn joins the draft: rolled back with the call', async () => {
  const session = newSession();
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { note } }),
      () => fail('never mind'),
    ),
  };
  const model = outerThenInner([{ toolName: 'note', input: { what: 'a' } }, 'Inner done.']);
  await runTurn({ model, prompt: 'outer', session, tools });
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.glob('**')).toEqual([]);
});

test('[R42] a nested turn that rejects is a failed call, and the parent continues', async () => {
  const session = newSession();
  const tools: ToolSet = { delegate: delegate(() => ({ prompt: 'inner', tools: { note } })) };
  const model = outerThenInner([{ toolName: 'note', input: { what: 'a' } }, new Error('no such model')]);
  const result = await runTurn({ model, prompt: 'outer', session, tools });
  expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', message: 'no such model' });
  expect(result.response).toBe('Outer done.');
  expect(session.read(notes)).toEqual([]);
});

test('[R42] a nested turn in a call without effects cannot write either', async () => {
  const session = newSession();
  const outcomes: string[] = [];
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { note } }),
      ({ settlements }) => {
        outcomes.push(...settlements.map(({ outcome }) => outcome.status));
        return 'looked';
      },
      'none',
    ),
  };
  const model = outerThenInner([{ toolName: 'note', input: { what: 'a' } }, 'Inner done.']);
  await runTurn({ model, prompt: 'outer', session, tools });
  expect(outcomes).toEqual(['error']);
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.glob('**')).toEqual([]);
});

test('[R42] a rewind in a nested turn goes back to its own start and no further', async () => {
  const session = newSession();
  const tools: ToolSet = {
    note,
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { note, rewind: rewindTool } }),
      (_result, ctx) => ctx.session.read(notes).join(),
    ),
  };
  const noting = (text: string) => ({ toolName: 'note', input: { what: text } });
  const model = scriptedModel([
    [noting('outer'), delegates],
    noting('inner'),
    { toolName: 'rewind', input: { reason: 'r', guidance: 'g' } },
    noting('again'),
    'Inner done.',
    'Outer done.',
  ]);
  await runTurn({ model, prompt: 'outer', session, tools });
  expect(session.read(notes)).toEqual(['outer', 'again']);
  expect(await session.filesystem.glob('**')).toEqual(['again.txt', 'outer.txt']);
});

test('[R42] a rewind of the parent undoes what a nested turn did', async () => {
  const session = newSession();
  const tools: ToolSet = { delegate: delegate(() => ({ prompt: 'inner', tools: { note } })), rewind: rewindTool };
  const model = scriptedModel([
    delegates,
    { toolName: 'note', input: { what: 'a' } },
    'Inner done.',
    { toolName: 'rewind', input: { reason: 'r', guidance: 'g' } },
    'Outer done.',
  ]);
  await runTurn({ model, prompt: 'outer', session, tools });
  expect(session.read(notes)).toEqual([]);
  expect(await session.filesystem.glob('**')).toEqual([]);
});

test('[R42] the deadline is inherited: the earlier of both counts', async () => {
  const deadlines: unknown[] = [];
  const clock = fakeClock(1_000);
  const probe = tool({
    description: 'Tells its deadline.',
    inputSchema: none,
    execute: (_input, ctx) => void deadlines.push(ctx.deadline),
  });
  for (const own of [undefined, 3_000, 9_000]) {
    const options = own === undefined ? {} : { deadline: own };
    const model = outerThenInner([{ toolName: 'probe' }, 'Inner done.']);
    const tools: ToolSet = { delegate: delegate(() => ({ prompt: 'inner', tools: { probe }, ...options })) };
    await runTurn({ model, prompt: 'outer', tools, clock, deadline: 5_000 });
  }
  expect(deadlines).toEqual([5_000, 3_000, 5_000]);
  expect(clock.sleepers).toBe(0);
});

test('[R42] a nested turn ends with the tool’s own timeout', async () => {
  const clock = fakeClock(1_000);
  const session = newSession();
  const late = Promise.withResolvers<string>();
  let nested: AbortSignal | undefined;
  const hang = tool({
    description: 'Hangs.',
    inputSchema: none,
    effects: 'session',
    async execute(_input, ctx) {
      nested = ctx.abortSignal;
      await late.promise;
      ctx.session.dispatch({ type: 'noted', what: 'too late' });
    },
  });
  const slow = { ...delegate(() => ({ prompt: 'inner', tools: { hang } })), timeoutMs: 100 };
  const model = scriptedModel([delegates, { toolName: 'hang' }, 'Outer done.']);
  const running = runTurn({ model, prompt: 'outer', session, tools: { delegate: slow }, clock });
  while (nested === undefined) await settled();
  await clock.advance(100);
  const result = await running;
  expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'timeout' });
  expect(nested.aborted).toBe(true);
  late.resolve('now');
  await settled();
  expect(session.read(notes)).toEqual([]);
  expect(model.requests).toHaveLength(3);
});

test('[R42] an abort of the host reaches the nested turn, which asks no model again', async () => {
  const host = new AbortController();
  let inner: TurnResult | undefined;
  const leave = tool({ description: 'Aborts.', inputSchema: none, execute: () => host.abort() });
  const nestedModel = scriptedModel([{ toolName: 'leave' }, 'never']);
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { leave }, model: nestedModel }),
      (result) => {
        inner = result;
      },
    ),
  };
  const result = await runTurn({ model: scriptedModel([delegates]), prompt: 'outer', tools, signal: host.signal });
  await settled();
  expect(result.stop).toEqual({ reason: 'aborted' });
  expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'aborted' });
  expect(inner?.stop).toEqual({ reason: 'aborted' });
  expect(nestedModel.requests).toHaveLength(1);
});

test('[R42] the budget is inherited: what a nested turn uses is used of the parent’s', async () => {
  const budget = createBudget({ tokens: 1_000, toolCalls: 10 });
  const tools: ToolSet = { delegate: delegate(() => ({ prompt: 'inner', tools: { note } })) };
  const model = outerThenInner([{ toolName: 'note', input: { what: 'a' } }, 'Inner done.']);
  await runTurn({ model, prompt: 'outer', session: newSession(), tools, budget });
  expect(budget.used('toolCalls')).toBe(2);
  expect(budget.used('tokens')).toBe(4 * 15);
});

test('[R42] a tool in a nested turn sees the limits of both budgets', async () => {
  const seen: unknown[] = [];
  const look = tool({
    ...{ description: 'Looks.', inputSchema: none },
    execute: (_input, { budget }) => void seen.push(budget?.limits, budget?.remaining('toolCalls')),
  });
  const tools: ToolSet = {
    delegate: delegate(() => ({ prompt: 'inner', tools: { look }, budget: { tokens: 1_000 } })),
  };
  const model = outerThenInner([{ toolName: 'look' }, 'Inner done.']);
  await runTurn({ model, prompt: 'outer', session: newSession(), tools, budget: { toolCalls: 5 } });
  expect(seen).toEqual([{ toolCalls: 5, tokens: 1_000 }, 3]);
});

test('[R42] a nested turn stops at the end of the parent’s budget, even if it has a separate budget', async () => {
  for (const own of [undefined, { toolCalls: 100 }, { tokens: 10_000 }]) {
    const stops: unknown[] = [];
    const asked = scriptedModel(() => ({ toolName: 'note', input: { what: 'a' } }));
    const tools: ToolSet = {
      delegate: delegate(
        () => ({ prompt: 'inner', tools: { note }, model: asked, ...(own === undefined ? {} : { budget: own }) }),
        ({ stop }) => {
          stops.push(stop);
        },
      ),
    };
    // The outer reply costs 15, each nested one 15.
    await runTurn({
      model: scriptedModel([delegates, 'never']),
      prompt: 'outer',
      session: newSession(),
      tools,
      budget: { tokens: 60 },
    });
    expect(stops).toEqual([{ reason: 'budget', dimension: 'tokens' }]);
    expect(asked.requests).toHaveLength(3);
  }
});

test('[R42] a nested turn stops at its own budget, and the parent continues', async () => {
  const stops: unknown[] = [];
  const asked = scriptedModel(() => ({ toolName: 'note', input: { what: 'a' } }));
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { note }, model: asked, budget: { toolCalls: 2 } }),
      ({ stop }) => {
        stops.push(stop);
      },
    ),
  };
  const result = await runTurn({
    model: scriptedModel([delegates, 'Outer done.']),
    prompt: 'outer',
    session: newSession(),
    tools,
    budget: { toolCalls: 100 },
  });
  expect(stops).toEqual([{ reason: 'budget', dimension: 'toolCalls' }]);
  expect(result.response).toBe('Outer done.');
});

test('[R42] endsParent: a terminal tool inside ends the parent too, with the same response and output', async () => {
  for (const after of [({ response }: TurnResult) => response, () => undefined, (result: TurnResult) => result.stop]) {
    const session = newSession();
    const model = scriptedModel([[delegates, { toolName: 'note', input: { what: 'after' } }], ends]);
    const result = await runTurn({
      model,
      prompt: 'outer',
      session,
      tools: { note, delegate: delegate(() => ({ prompt: 'inner', tools: { done }, endsParent: true }), after) },
    });
    expect(result).toMatchObject({
      response: 'inner: found',
      output: 'inner: found',
      stop: { reason: 'end_turn', by: 'terminal', tool: 'delegate' },
    });
    expect(result.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'skipped']);
    expect(session.read(notes)).toEqual([]);
    expect(model.requests).toHaveLength(2);
  }
});

test('[R42] endsParent goes up one turn at a time', async () => {
  const inner = delegate(() => ({ prompt: 'inner', tools: { done }, endsParent: true }));
  const middle = (endsParent: boolean) =>
    delegate(() => ({ prompt: 'middle', tools: { delegate: inner }, endsParent }));
  const all = await runTurn({
    model: scriptedModel([delegates, delegates, ends]),
    prompt: 'outer',
    tools: { delegate: middle(true) },
  });
  expect(all.response).toBe('inner: found');
  const two = await runTurn({
    model: scriptedModel([delegates, delegates, ends, 'Outer done.']),
    prompt: 'outer',
    tools: { delegate: middle(false) },
  });
  expect(two.response).toBe('Outer done.');
});

test('[R42] endsParent: a nested turn that ends with a text, and one whose call fails, does not end the parent', async () => {
  const spoken = await runTurn({
    model: scriptedModel([delegates, 'Inner text.', 'Outer done.']),
    prompt: 'outer',
    tools: { delegate: delegate(() => ({ prompt: 'inner', tools: { done }, endsParent: true })) },
  });
  expect(spoken.response).toBe('Outer done.');
  let failing = true;
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { done }, endsParent: true }),
      ({ response }) => (failing ? fail('not good enough') : response),
    ),
  };
  const failed = await runTurn({
    model: scriptedModel([
      delegates,
      ends,
      () => {
        failing = false;
        return delegates;
      },
      ends,
    ]),
    prompt: 'outer',
    tools,
  });
  expect(failed.settlements.map(({ outcome }) => outcome.status)).toEqual(['error', 'ok']);
  expect(failed.stop).toMatchObject({ by: 'terminal', tool: 'delegate' });
  const isEnd = failed.transcript.entries.flatMap((entry) => (entry.kind === 'settled' ? 'endsTurn' in entry : []));
  expect(isEnd).toEqual([false, true]);
});

test('[R42] endsParent: siblings that run in parallel are aborted, including their nested turns, and do nothing more', async () => {
  const release = Promise.withResolvers<void>();
  const acted: string[] = [];
  const signals: AbortSignal[] = [];
  const sibling = tool({
    description: 'Waits, then acts.',
    inputSchema: none,
    effects: 'none',
    async execute(_input, ctx) {
      signals.push(ctx.abortSignal);
      await release.promise;
      if (!ctx.abortSignal.aborted) acted.push('sibling');
      return 'acted';
    },
  });
  const siblingModel = scriptedModel([
    async () => {
      await release.promise;
      return { toolName: 'act' };
    },
  ]);
  const act = tool({ description: 'Acts.', inputSchema: none, execute: () => void acted.push('nested sibling') });
  const started = Promise.withResolvers<void>();
  const model = scriptedModel([
    [{ toolName: 'sibling' }, delegates, { toolName: 'other' }, { toolName: 'note', input: { what: 'later' } }],
  ]);
  const ending = scriptedModel([
    async () => {
      await started.promise;
      return ends;
    },
  ]);
  const session = newSession();
  const running = runTurn({
    model,
    prompt: 'outer',
    session,
    tools: {
      note,
      sibling,
      delegate: delegate(
        () => ({ prompt: 'inner', tools: { done }, endsParent: true, model: ending }),
        undefined,
        'none',
      ),
      other: delegate(() => ({ prompt: 'other', tools: { act }, model: siblingModel }), undefined, 'none'),
    },
  });
  while (siblingModel.requests.length === 0 || signals.length === 0) await settled();
  started.resolve();
  const result = await running;
  expect(result.response).toBe('inner: found');
  expect(result.settlements.map(({ outcome }) => ('code' in outcome ? outcome.code : outcome.status))).toEqual([
    'aborted',
    'ok',
    'aborted',
    'skipped',
  ]);
  release.resolve();
  await settled();
  await settled();
  expect(acted).toEqual([]);
  expect(session.read(notes)).toEqual([]);
});

test('[R42] endsParent survives storage: a finished parent returns the same response again', async () => {
  const tools: ToolSet = {
    delegate: delegate(
      () => ({ prompt: 'inner', tools: { done }, endsParent: true }),
      () => 1,
    ),
  };
  const first = await runTurn({ model: scriptedModel([delegates, ends]), prompt: 'outer', tools });
  const again = await runTurn({
    model: scriptedModel([]),
    transcript: Transcript.fromJSON(JSON.stringify(first.transcript)),
    tools,
  });
  expect(again.response).toBe('inner: found');
  const next = await runTurn({
    model: scriptedModel(['A text.']),
    prompt: 'next',
    transcript: Transcript.fromJSON(JSON.stringify(first.transcript)),
    tools,
  });
  expect(next.response).toBe('A text.');
});

test('[R42] two turns inside one call, one after another or in parallel, do not wait for each other forever', async () => {
  const session = newSession();
  const twice = tool({
    description: 'Delegates twice.',
    inputSchema: none,
    effects: 'session',
    async execute(_input, ctx) {
      const inner = (text: string) =>
        ctx.runTurn({
          prompt: text,
          tools: { note },
          model: scriptedModel([{ toolName: 'note', input: { what: text } }, text]),
        });
      const all = await Promise.all([inner('a'), inner('b')]);
      return all.map(({ response }) => response).join();
    },
  });
  const result = await runTurn({
    model: scriptedModel([{ toolName: 'twice' }, 'Outer done.']),
    prompt: 'outer',
    session,
    tools: { twice },
  });
  expect(result.settlements[0]?.outcome.text).toBe('a,b');
  expect(session.read(notes)).toEqual(['a', 'b']);
});
