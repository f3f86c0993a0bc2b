import { expect, test } from 'vitest';
import { z } from 'zod';
import { createBudget, createSession, pending, type SessionEvent, slice, tool } from '../../src/index.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { sequentialIds } from '../../src/testing/sequential-ids.ts';
import { Transcript } from '../../src/transcript/transcript.ts';
import { runTurn } from '../../src/turn/run-turn.ts';

function counter() {
  const ran: number[] = [];
  const count = tool({
    description: 'Counts.',
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }) => (ran.push(n), n),
  });
  return { count, ran };
}

/** A stored transcript, as another process reads it. */
function stored(transcript: Transcript): Transcript {
  return Transcript.fromJSON(JSON.stringify(transcript));
}

const overloaded = Object.assign(new Error('overloaded'), { isRetryable: false });

test('[R47] settled calls are not run again and finished steps are not asked again', async () => {
  const { count, ran } = counter();
  const options = { tools: { count }, newId: sequentialIds() };
  const first = scriptedModel([
    [{ toolName: 'count', input: { n: 1 } }],
    [{ toolName: 'count', input: { n: 2 } }],
    overloaded,
  ]);
  const failure = await runTurn({ ...options, model: first, prompt: 'go' }).catch((error: unknown) => error);
  const { transcript } = failure as { transcript: Transcript };
  const second = scriptedModel([[{ toolName: 'count', input: { n: 3 } }], 'end']);
  const result = await runTurn({ ...options, model: second, transcript: stored(transcript) });
  expect(ran).toEqual([1, 2, 3]);
  expect(second.requests).toHaveLength(2);
  expect(second.requests[0]?.prompt).toEqual(first.requests[2]?.prompt);
  expect(result).toMatchObject({ response: 'end', steps: 4 });
  expect(result.settlements.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('[R47] a call that was not answered in time uses up no tool call of the budget when its turn is resumed', async () => {
  const clock = fakeClock();
  const { count, ran } = counter();
  const none = z.object({});
  const ask = tool({ description: 'Asks.', inputSchema: none, execute: () => pending({ expiresInMs: 50 }) });
  const options = { tools: { ask, count }, clock };
  const { transcript } = await runTurn({ ...options, model: scriptedModel([[{ toolName: 'ask' }]]), prompt: 'go' });
  await clock.advance(50);
  await runTurn({ ...options, model: scriptedModel([overloaded]), transcript }).catch(() => {});
  const model = scriptedModel([[{ toolName: 'count', input: { n: 1 } }], 'end']);
  const result = await runTurn({ ...options, model, transcript: stored(transcript), budget: { toolCalls: 1 } });
  expect(result.settlements).toMatchObject([{ outcome: { code: 'expired' } }, { outcome: { status: 'ok' } }]);
  expect([result.response, ran]).toEqual(['end', [1]]);
});

test('[R47] usage and steps add up over the resumptions of one turn', async () => {
  const { count } = counter();
  const call = [{ toolName: 'count', input: { n: 1 } }];
  const one = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const failure = await runTurn({
    model: scriptedModel([call, call, overloaded]),
    tools: { count },
    prompt: 'go',
  }).catch((error: unknown) => error);
  const transcript = stored((failure as { transcript: Transcript }).transcript);
  const result = await runTurn({ model: scriptedModel([call, 'end']), tools: { count }, transcript });
  expect(result.usage).toEqual({
    inputTokens: 4 * one.inputTokens,
    outputTokens: 4 * one.outputTokens,
    totalTokens: 4 * one.totalTokens,
  });
  expect(result.steps).toBe(4);
});

test('[R47] maxSteps counts the steps before a resumption too', async () => {
  const { count } = counter();
  const call = [{ toolName: 'count', input: { n: 1 } }];
  const options = { tools: { count }, maxSteps: 3 };
  const failure = await runTurn({ ...options, model: scriptedModel([call, call, overloaded]), prompt: 'go' }).catch(
    (error: unknown) => error,
  );
  const transcript = stored((failure as { transcript: Transcript }).transcript);
  const model = scriptedModel([call]);
  const result = await runTurn({ ...options, model, transcript });
  expect(result.stop).toEqual({ reason: 'max_steps' });
  expect(model.requests).toHaveLength(1);
});

test('[R47] a budget given as numbers includes what was used before a resumption; a budget object of the host keeps its own count', async () => {
  const { count, ran } = counter();
  const call = [{ toolName: 'count', input: { n: 1 } }];
  const bad = [{ toolName: 'count', input: { n: 'x' } }];
  const begin = async () => {
    const model = scriptedModel([call, bad, overloaded]);
    const failure = await runTurn({ model, tools: { count }, prompt: 'go' }).catch((error: unknown) => error);
    ran.length = 0;
    return stored((failure as { transcript: Transcript }).transcript);
  };
  // Two replies of 15 tokens and one call were used before.
  const tokens = {
    model: scriptedModel([call, call]),
    tools: { count },
    transcript: await begin(),
    budget: { tokens: 45 },
  };
  expect(await runTurn(tokens)).toMatchObject({ stop: { reason: 'budget', dimension: 'tokens' }, steps: 3 });
  expect(tokens.model.requests).toHaveLength(1);
  const calls = {
    model: scriptedModel([call, call]),
    tools: { count },
    transcript: await begin(),
    budget: { toolCalls: 2 },
  };
  expect((await runTurn(calls)).stop).toEqual({ reason: 'budget', dimension: 'toolCalls' });
  expect(ran).toHaveLength(1);
  const budget = createBudget({ tokens: 45 });
  const own = { model: scriptedModel([call, call, call]), tools: { count }, transcript: await begin(), budget };
  expect((await runTurn(own)).steps).toBe(5);
  expect(budget.used('tokens')).toBe(45);
});

test('[R47] a finished turn returns the same result again, without a model call, and writes nothing', async () => {
  const done = tool({
    description: 'Ends.',
    terminal: true,
    inputSchema: z.object({ n: z.number() }),
    execute: ({ n }) => ({ n }),
  });
  const { count } = counter();
  const scripts = [
    [[{ toolName: 'count', input: { n: 1 } }], 'just text'],
    [[{ toolName: 'done', input: { n: 5 } }]],
  ] as const;
  for (const script of scripts) {
    const tools = { count, done };
    const first = await runTurn({ model: scriptedModel([...script]), tools, prompt: 'go' });
    const transcript = stored(first.transcript);
    const entries = transcript.entries.length;
    const model = scriptedModel([]);
    const { transcript: _, ...again } = await runTurn({ model, tools, transcript });
    const { transcript: __, ...before } = first;
    expect(again).toEqual(before);
    expect(model.requests).toHaveLength(0);
    expect(transcript.entries).toHaveLength(entries);
  }
});

test('[R47] a prompt on a finished transcript starts a new turn with new counts', async () => {
  const model = scriptedModel(['one', 'two']);
  const first = await runTurn({ model, prompt: 'first' });
  const second = await runTurn({ model, transcript: stored(first.transcript), prompt: 'second' });
  expect(second).toMatchObject({ response: 'two', steps: 1, usage: first.usage });
  expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
});

test('[R47] an aborted turn continues where it stopped', async () => {
  const abort = new AbortController();
  const { count, ran } = counter();
  const stop = tool({
    description: 'Aborts the turn.',
    effects: 'session',
    inputSchema: z.object({}),
    execute: () => abort.abort(),
  });
  const tools = { count, stop };
  const aborted = await runTurn({
    model: scriptedModel([
      [{ toolName: 'count', input: { n: 1 } }, { toolName: 'stop' }, { toolName: 'count', input: { n: 2 } }],
    ]),
    tools,
    prompt: 'go',
    signal: abort.signal,
  });
  expect(aborted.stop).toEqual({ reason: 'aborted' });
  const model = scriptedModel(['end']);
  const result = await runTurn({ model, tools, transcript: stored(aborted.transcript) });
  expect(result).toMatchObject({ response: 'end', steps: 2 });
  expect(ran).toEqual([1]);
});

test('[R47] an unsettled batch gets the tools of its step', async () => {
  const steps: number[] = [];
  const { count, ran } = counter();
  const ask = tool({ description: 'Asks.', inputSchema: z.object({}) });
  const tools = ({ step }: { step: number }) => {
    steps.push(step);
    return step === 1 ? { ask } : { count };
  };
  const newId = sequentialIds();
  const first = await runTurn({ model: scriptedModel([[{ toolName: 'ask' }]]), tools, prompt: 'go', newId });
  expect(first.stop).toEqual({ reason: 'suspended' });
  const result = await runTurn({
    model: scriptedModel([[{ toolName: 'count', input: { n: 1 } }], 'end']),
    tools,
    transcript: stored(first.transcript),
    answers: { 'call-1': { result: 'yes' } },
    newId,
  });
  expect(result.settlements.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok']);
  expect(ran).toEqual([1]);
  expect(steps).toEqual([1, 1, 2, 3]);
});

test('[R47] a call that succeeded before its tool became terminal does not end the resumed turn', async () => {
  const look = tool({ description: 'Looks.', effects: 'none', inputSchema: z.object({}), execute: () => 'seen' });
  const pay = tool({ description: 'Pays.', inputSchema: z.object({}), approval: true, execute: () => 'paid' });
  const calls = [{ toolName: 'look' }, { toolName: 'pay' }];
  const newId = sequentialIds();
  const first = await runTurn({ model: scriptedModel([calls]), tools: { look, pay }, prompt: 'go', newId });
  const result = await runTurn({
    model: scriptedModel(['I looked and paid.']),
    tools: { look: tool({ ...look, terminal: true }), pay },
    transcript: stored(first.transcript),
    answers: { 'call-2': { approve: true } },
  });
  expect(result).toMatchObject({ response: 'I looked and paid.', stop: { reason: 'end_turn', by: 'text' } });
});

test('[R47] two turns on one session do not interleave', async () => {
  const order = slice<readonly string[]>('order', {
    initial: [],
    on: { went: (state, event: SessionEvent & { who?: string }) => [...state, event.who ?? ''] },
  });
  const go = tool({
    description: 'Goes.',
    effects: 'session',
    inputSchema: z.object({ who: z.string() }),
    execute: ({ who }, { session }) => session.dispatch({ type: 'went', who } as SessionEvent),
  });
  const session = createSession({ slices: [order] });
  const run = (who: string) => {
    const call = [{ toolName: 'go', input: { who } }];
    return runTurn({ model: scriptedModel([call, call, 'end']), tools: { go }, session, prompt: 'go' });
  };
  await Promise.all([run('a'), run('b')]);
  expect(session.read(order)).toEqual(['a', 'a', 'b', 'b']);
});

test('[R47] a turn inside a call with a transcript that is in use is refused instead of waiting for ever', async () => {
  const transcript = new Transcript();
  const nest = tool({
    description: 'Nests.',
    inputSchema: z.object({}),
    execute: async (_, ctx) => (await ctx.runTurn({ prompt: 'inner', transcript })).response,
  });
  const model = scriptedModel([[{ toolName: 'nest' }], 'end']);
  const result = await runTurn({ model, tools: { nest }, transcript, prompt: 'outer' });
  expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'execution' });
  expect(result.response).toBe('end');
});
