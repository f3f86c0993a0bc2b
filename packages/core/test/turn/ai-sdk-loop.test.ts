import {
  type ToolSet as AiTools,
  tool as aiTool,
  convertToModelMessages,
  generateText,
  type ModelMessage,
  stepCountIs,
  streamText,
  type UIMessage,
} from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  blocked,
  createSession,
  type Middleware,
  pending,
  requires,
  rewindTool,
  runTurn,
  slice,
  type ToolSet,
  toAiSdkTools,
  tool,
  VisibilityExpansionRequired,
} from '../../src/index.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';

interface Moved {
  readonly type: 'Moved';
  readonly to: string;
}
const path = slice<readonly string[]>('path', { initial: [], on: { Moved: (all, { to }: Moved) => [...all, to] } });
const nothing = z.object({});

/** The set-up of one test: its tools record what ran. */
function world() {
  const ran: string[] = [];
  const session = createSession({ slices: [path] });
  const go = tool({
    description: 'Goes one room further.',
    inputSchema: z.object({ to: z.string() }),
    effects: 'session',
    execute({ to }, { session }) {
      ran.push(`go ${to}`);
      session.dispatch<Moved>({ type: 'Moved', to });
      return to === 'wall' ? blocked('There is a wall.') : `You are in the ${to}.`;
    },
  });
  const shout = tool({
    description: 'Shouts.',
    inputSchema: z.object({ what: z.string() }),
    execute: ({ what }) => void ran.push(`shout ${what}`),
  });
  const end_turn = tool({
    description: 'Ends the turn.',
    inputSchema: nothing,
    effects: 'none',
    terminal: true,
    execute: () => {
      ran.push('end_turn');
      return 'I am done.';
    },
  });
  return { ran, session, tools: { go, shout, end_turn, rewind: rewindTool } };
}

const go = (to: string) => ({ toolName: 'go', input: { to } });

async function stream(script: readonly ScriptedReply[], tools: ToolSet, options: Parameters<typeof toAiSdkTools>[1]) {
  const model = scriptedModel(script);
  const agent = toAiSdkTools(tools, options);
  const errors: unknown[] = [];
  const result = streamText({
    model,
    prompt: 'Find a way out.',
    ...agent.settings,
    onError: ({ error }) => void errors.push(error),
  });
  await result.consumeStream();
  return { agent, model, result, errors, statuses: agent.settlements.map(({ outcome }) => outcome.status) };
}

describe('the short circuit', () => {
  const script = [
    [go('cellar'), go('wall'), go('attic'), { toolName: 'shout', input: { what: 'Help' } }],
    'I am stuck.',
  ];

  test("[R4] with 'cancel-rest', after a call that was blocked the rest of the step does not run", async () => {
    const { ran, session, tools } = world();
    const { agent, model, result, statuses } = await stream(script, tools, {
      session,
      batch: { onError: 'cancel-rest' },
    });
    expect(ran).toEqual(['go cellar', 'go wall']);
    expect(statuses).toEqual(['ok', 'error', 'cancelled', 'cancelled']);
    expect(session.read(path)).toEqual(['cellar']);
    expect(await result.text).toBe('I am stuck.');
    expect(agent.response).toBeUndefined();
    expect(resultsIn(model.requests[1]?.prompt)).toEqual([
      'You are in the cellar.',
      'There is a wall.',
      expect.stringMatching(/^Cancelled: "go" \(call .*\) failed: There is a wall\.$/),
      expect.stringMatching(/^Cancelled: /),
    ]);
  });

  test('[R5] without it, each call runs, and the state of a failed one is rolled back', async () => {
    const { ran, session, tools } = world();
    const { statuses } = await stream(script, tools, { session });
    expect(ran).toHaveLength(4);
    expect(statuses).toEqual(['ok', 'error', 'ok', 'ok']);
    expect(session.read(path)).toEqual(['cellar', 'attic']);
  });

  test('the next step starts afresh', async () => {
    const { ran, session, tools } = world();
    await stream([[go('wall'), go('a')], [go('b')], 'Done.'], tools, { session, batch: { onError: 'cancel-rest' } });
    expect(ran).toEqual(['go wall', 'go b']);
  });

  test('input that does not fit the schema is a failure like any other', async () => {
    const { ran, session, tools } = world();
    const bad = { toolName: 'go', input: { where: 'x' } };
    const { agent } = await stream([[bad, go('a')], 'Done.'], tools, { session, batch: { onError: 'cancel-rest' } });
    expect(ran).toEqual([]);
    expect(agent.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'invalid_input' });
  });
});

describe('a terminal tool', () => {
  test('stops the loop, skips the rest of its step, and gives the response', async () => {
    const { ran, session, tools } = world();
    const { agent, model, statuses } = await stream([[{ toolName: 'end_turn' }, go('a')], 'Never said.'], tools, {
      session,
    });
    expect(ran).toEqual(['end_turn']);
    expect(statuses).toEqual(['ok', 'skipped']);
    expect(model.requests).toHaveLength(1);
    expect(agent.response).toBe('I am done.');
    expect(agent.output).toBe('I am done.');
  });

  test('[R10] a second one is refused', async () => {
    const { session, tools } = world();
    const twice = [{ toolName: 'end_turn' }, { toolName: 'end_turn' }];
    const { agent } = await stream([twice], tools, { session });
    expect(agent.settlements[1]?.outcome).toMatchObject({ code: 'terminal_already_called' });
  });

  test('[R9] that fails does not stop the loop', async () => {
    const { session } = world();
    const end = tool({
      description: 'Ends.',
      inputSchema: nothing,
      terminal: true,
      execute: () => blocked('Not yet.'),
    });
    const { model, agent } = await stream([{ toolName: 'end' }, 'All right.'], { end }, { session });
    expect(model.requests).toHaveLength(2);
    expect(agent.response).toBeUndefined();
  });

  test('the loop also ends after maxSteps', async () => {
    const { session, tools } = world();
    const { model } = await stream([go('a'), go('b'), go('c')], tools, { session, maxSteps: 2 });
    expect(model.requests).toHaveLength(2);
  });
});

describe('a rewind', () => {
  const back = (guidance: string) => ({ toolName: 'rewind', input: { reason: 'Locked.', guidance } });

  test('restores state and messages of the start, and the model reads why', async () => {
    const { ran, session, tools } = world();
    const script = [
      [go('cellar'), { toolName: 'shout', input: { what: 'Help' } }],
      [back('Go up.'), go('nowhere')],
      go('attic'),
      'I am in the attic.',
    ];
    const { model, result } = await stream(script, tools, { session });
    expect(session.read(path)).toEqual(['attic']);
    expect(ran).toEqual(['go cellar', 'shout Help', 'go attic']);
    const [, third, fourth] = [model.requests[1], model.requests[2], model.requests[3]].map((one) => one?.prompt ?? []);
    expect(third?.map(({ role }) => role)).toEqual(['user', 'user']);
    expect(textOf(third?.[1])).toContain('Why: Locked.\nWhat to do now: Go up.');
    expect(textOf(third?.[1])).toContain('still stand:\n- shout {"what":"Help"}');
    expect(fourth?.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool']);
    expect(await result.text).toBe('I am in the attic.');
  });

  test('restores the state of the host, at most twice', async () => {
    const { session, tools } = world();
    let board = 'start';
    const move = tool({
      description: 'Moves.',
      inputSchema: nothing,
      effects: 'session',
      execute: () => (board = 'moved'),
    });
    const restored: string[] = [];
    const rewind = {
      checkpoint: () => board,
      restore: (saved: string) => {
        restored.push(board);
        board = saved;
      },
    };
    const script = [[{ toolName: 'move' }], back('1'), [{ toolName: 'move' }], back('2'), back('3'), 'Enough.'];
    const { agent, model } = await stream(script, { ...tools, move }, { session, rewind });
    expect(restored).toEqual(['moved', 'moved']);
    expect(board).toBe('start');
    expect(agent.settlements.at(-1)?.outcome).toMatchObject({ status: 'error', code: 'denied' });
    // The second rewind replaced the first.
    expect(model.requests[4]?.prompt.map(textOf)).toEqual(['Find a way out.', expect.stringContaining('do now: 2')]);
  });

  test('is not offered with max 0', async () => {
    const { session, tools } = world();
    const { model } = await stream(['Hello.'], tools, { session, rewind: { max: 0 } });
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['go', 'shout', 'end_turn']);
  });
});

test('the model gets the same tools as from runTurn', async () => {
  const { session, tools } = world();
  const counted = tool({
    description: (session) => `You have been in ${session.read(path).length} rooms.`,
    inputSchema: nothing,
    effects: 'none',
    execute: () => 1,
  });
  const { model } = await stream([go('a'), 'Done.'], { ...tools, counted }, { session });
  const offered = model.requests[1]?.tools ?? [];
  expect(offered.find(({ name }) => name === 'counted')).toMatchObject({ description: 'You have been in 1 rooms.' });
  expect(offered.find(({ name }) => name === 'go')).toMatchObject({
    description: 'Goes one room further.',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  });
});

test('[T7] the model gets what an AI SDK tool says to its provider, as from runTurn', async () => {
  const weather = aiTool({
    description: 'The weather.',
    inputSchema: z.object({ city: z.string() }),
    strict: true,
    inputExamples: [{ input: { city: 'Rome' } }],
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    execute: async () => 'Sun.',
  });
  const own = scriptedModel(['Hello.']);
  await runTurn({ model: own, prompt: 'Go.', tools: { weather } });
  const { model } = await stream(['Hello.'], { weather }, {});
  expect(own.requests[0]?.tools).toMatchObject([{ strict: true, providerOptions: { anthropic: {} } }]);
  expect(model.requests[0]?.tools).toEqual(own.requests[0]?.tools);
});

test("an AI SDK tool gets the AI SDK's options, and its toModelOutput is kept", async () => {
  const seen: unknown[] = [];
  const weather = aiTool({
    description: 'The weather.',
    inputSchema: z.object({ city: z.string().default('Rome') }),
    execute: async ({ city }, { toolCallId, messages, abortSignal }) => {
      seen.push(
        city,
        toolCallId,
        messages.map(({ role }) => role),
        abortSignal instanceof AbortSignal,
      );
      return { degrees: 21 };
    },
    toModelOutput: ({ output }) => ({ type: 'text', value: `${output.degrees} degrees` }),
  });
  const { model, result } = await stream([{ toolName: 'weather' }, 'Warm.'], { weather }, {});
  expect(seen).toEqual(['Rome', expect.any(String), ['user'], true]);
  expect(resultsIn(model.requests[1]?.prompt)).toEqual(['21 degrees']);
  expect((await result.steps)[0]?.toolResults.map(({ output }) => output)).toEqual([{ degrees: 21 }]);
});

test('[T7] the result of an earlier run is shown as the tool of the AI SDK shows it, which may depend on its input', async () => {
  const weather = aiTool({
    inputSchema: z.object({ city: z.string() }),
    execute: async () => ({ degrees: 21 }),
    toModelOutput: ({ input, output }) => ({ type: 'text', value: `${input.city}: ${output.degrees} degrees` }),
  });
  const past: UIMessage = {
    id: 'm-1',
    role: 'assistant',
    parts: [
      {
        type: 'tool-weather',
        toolCallId: 'c-1',
        state: 'output-available',
        input: { city: 'Rome' },
        output: { degrees: 21 },
      },
    ],
  };
  const { settings } = toAiSdkTools({ weather });
  const messages = await convertToModelMessages([past], { tools: settings.tools as AiTools });
  const model = scriptedModel(['Warm.']);
  await generateText({ model, messages, ...settings });
  expect(resultsIn(model.requests[0]?.prompt)).toEqual(['Rome: 21 degrees']);
});

test('[T14] the result of an earlier run is rendered as it was in that run', async () => {
  const weather = tool({
    description: 'Weather.',
    inputSchema: z.object({}),
    effects: 'none',
    execute: () => ({ degrees: 21, station: null }),
    render: ({ degrees }) => `${degrees} degrees`,
  });
  const plain = tool({
    description: 'Plain.',
    inputSchema: z.object({}),
    effects: 'none',
    execute: () => ({ a: 1, b: null }),
  });
  const tools = { weather, plain };
  const first = await stream([[{ toolName: 'weather' }, { toolName: 'plain' }], 'Warm.'], tools, {});
  const shown = ['21 degrees', '{"a":1}'];
  expect(resultsIn(first.model.requests[1]?.prompt)).toEqual(shown);

  const part = (name: string, output: unknown) =>
    ({
      type: `tool-${name}`,
      toolCallId: name,
      state: 'output-available',
      input: {},
      output,
    }) as UIMessage['parts'][number];
  const parts = [part('weather', { degrees: 21, station: null }), part('plain', { a: 1, b: null })];
  const { settings } = toAiSdkTools(tools);
  const messages = await convertToModelMessages([{ role: 'assistant', parts }], {
    tools: settings.tools as AiTools,
  });
  const model = scriptedModel(['Warm.']);
  await generateText({ model, messages, ...settings });
  expect(resultsIn(model.requests[0]?.prompt)).toEqual(shown);
});

test('a provider that repeats the ids of its calls gets the right results', async () => {
  const { session, tools } = world();
  const call = (to: string) => ({ ...go(to), toolCallId: 'same' });
  const { agent, model } = await stream([call('cellar'), call('attic'), 'Done.'], tools, { session });
  expect(resultsIn(model.requests[2]?.prompt)).toEqual(['You are in the cellar.', 'You are in the attic.']);
  expect(agent.settlements.map(({ callId }) => callId)).toEqual(['same', 'same-2']);
});

test('policies and middleware apply', async () => {
  const { ran, session, tools } = world();
  const seen: string[] = [];
  const middleware: Middleware[] = [
    {
      name: 'watch',
      call(next, { toolName }) {
        seen.push(toolName);
        return next();
      },
    },
  ];
  const calls = [{ toolName: 'shout', input: { what: 'x' } }, go('a')];
  const policies = [requires({ shout: ['go'] })];
  const { statuses } = await stream([calls, 'Done.'], tools, { session, policies, middleware });
  expect(ran).toEqual(['go a']);
  expect(statuses).toEqual(['error', 'ok']);
  expect(seen).toContain('go');
});

describe('approval', () => {
  test('is requested as in the AI SDK, and the approved call runs once', async () => {
    let paid = 0;
    const pay = tool({
      description: 'Pays.',
      inputSchema: z.object({ euros: z.number() }),
      approval: ({ euros }) => euros > 100,
      execute: ({ euros }) => `Paid ${euros} € (${++paid}).`,
    });
    const call = (euros: number) => ({ toolName: 'pay', input: { euros } });
    const first = await stream([[call(5), call(500)]], { pay }, {});
    expect(paid).toBe(1);
    const request = (await first.result.content).find((part) => part.type === 'tool-approval-request');
    if (request?.type !== 'tool-approval-request') throw new Error('Nothing was asked.');
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Pay.' },
      ...(await first.result.response).messages,
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }] },
    ];
    const model = scriptedModel(['Thank you.']);
    const again = toAiSdkTools({ pay }, {});
    const { text } = await generateText({ model, messages, ...again.settings });
    expect(text).toBe('Thank you.');
    expect(again.settlements.map(({ outcome }) => outcome.text)).toEqual(['Paid 500 € (2).']);
  });

  test('[R30] a rewind leaves what was approved before the run, as the messages to which it goes back have it', async () => {
    const { session, tools: all } = world();
    const tools = { ...all, go: { ...all.go, approval: ({ to }: { to: string }) => to === 'cellar' } };
    const first = await stream([go('cellar')], tools, { session });
    const request = (await first.result.content).find((part) => part.type === 'tool-approval-request');
    if (request?.type !== 'tool-approval-request') throw new Error('Nothing was asked.');
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Find a way out.' },
      ...(await first.result.response).messages,
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }] },
    ];
    const back = { toolName: 'rewind', input: { reason: 'It is dark.', guidance: 'Stay.' } };
    const model = scriptedModel([go('attic'), back, 'I stay.']);
    await generateText({ model, messages, ...toAiSdkTools(tools, { session }).settings });
    expect(resultsIn(model.requests[2]?.prompt)).toEqual(['You are in the cellar.']);
    expect(session.read(path)).toEqual(['cellar']);
  });

  test('[O9] is not requested if a policy approves the call', async () => {
    const paid: number[] = [];
    const pay = tool({
      description: 'Pays.',
      inputSchema: z.object({ euros: z.number() }),
      approval: true,
      execute: ({ euros }) => paid.push(euros),
    });
    const small = {
      name: 'small',
      approveCall: ({ input }: { input: unknown }) => (input as { euros: number }).euros < 10,
    };
    const call = (euros: number) => ({ toolName: 'pay', input: { euros } });
    const { result } = await stream([[call(5), call(500)]], { pay }, { policies: [small] });
    expect(paid).toEqual([5]);
    expect((await result.content).filter(({ type }) => type === 'tool-approval-request')).toHaveLength(1);
  });

  test('a call that was not approved does not run, even if the AI SDK executes it', async () => {
    let paid = 0;
    const pay = tool({ description: 'Pays.', inputSchema: nothing, approval: true, execute: () => ++paid });
    const agent = toAiSdkTools({ pay });
    const execute = agent.settings.tools.pay?.execute;
    await expect(execute?.({}, { toolCallId: 'c-1', messages: [] })).rejects.toThrow(
      'pending as call c-1, for approval',
    );
    expect(paid).toBe(0);
  });
});

describe('ends of the run', () => {
  test('an abort ends the running call', async () => {
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const hang = tool({
      description: 'Hangs.',
      inputSchema: nothing,
      execute: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const agent = toAiSdkTools({ hang });
    const model = scriptedModel([{ toolName: 'hang' }]);
    const result = streamText({
      model,
      prompt: 'Go.',
      ...agent.settings,
      abortSignal: controller.signal,
      onError: () => {},
    });
    const consumed = result.consumeStream();
    await started.promise;
    controller.abort();
    await consumed;
    expect(agent.settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'aborted' });
  });

  test('a host signal ends the run with its own error', async () => {
    const error = new VisibilityExpansionRequired('Show more.', ['details']);
    const more = tool({
      description: 'Needs more.',
      inputSchema: nothing,
      execute: () => {
        throw error;
      },
    });
    const { errors, model } = await stream([{ toolName: 'more' }, 'Never asked.'], { more }, {});
    expect(errors).toEqual([error]);
    expect(model.requests).toHaveLength(1);
  });

  test('a call that waits ends the loop', async () => {
    const ask = tool({ description: 'Asks.', inputSchema: nothing, execute: () => pending() });
    const { model, statuses } = await stream([{ toolName: 'ask' }, 'Never asked.'], { ask }, {});
    expect(statuses).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  test('settings of one run cannot be used for another', async () => {
    const { tools, session } = world();
    const { agent } = await stream(['Hello.'], tools, { session });
    await expect(generateText({ model: scriptedModel(['x']), prompt: 'Again.', ...agent.settings })).rejects.toThrow(
      'Call toAiSdkTools for each run.',
    );
  });

  test('an unknown option is refused', () => {
    expect(() => toAiSdkTools({}, { terminalTools: [] } as never)).toThrow('"terminalTools" is not known');
    expect(() => toAiSdkTools({}, { batch: { transitions: 'last' } } as never)).toThrow(
      '"batch.transitions" is not known',
    );
  });
});

test('a prepareStep of the host has to call that of the settings, and the error says so', async () => {
  const { tools, session } = world();
  const script = [[go('wall')], [go('attic')], 'Done.'];
  const options = { session, batch: { onError: 'cancel-rest' } } as const;
  const replaced = { ...toAiSdkTools(tools, options).settings, prepareStep: () => ({}) };
  await expect(generateText({ model: scriptedModel(script), prompt: 'Go.', ...replaced })).rejects.toThrow(
    /^Option "prepareStep" was not called\. .* call settings\.prepareStep in it/,
  );

  const agent = toAiSdkTools(tools, options);
  const { text } = await generateText({
    model: scriptedModel(script),
    prompt: 'Go.',
    ...agent.settings,
    prepareStep: async (step) => ({ ...(await agent.settings.prepareStep(step)), toolChoice: 'auto' }),
  });
  expect([text, agent.settlements.map(({ outcome }) => outcome.status)]).toEqual(['Done.', ['error', 'ok']]);
});

test('a stop condition of the host can be added', async () => {
  const { session, tools } = world();
  const model = scriptedModel([go('a'), go('b')]);
  const agent = toAiSdkTools(tools, { session });
  await generateText({ model, prompt: 'Go.', ...agent.settings, stopWhen: [agent.settings.stopWhen, stepCountIs(1)] });
  expect(model.requests).toHaveLength(1);
});

test('the next turn on the session works', async () => {
  const { session, tools } = world();
  await stream([go('a'), 'Done.'], tools, { session });
  await stream([go('b'), { toolName: 'rewind', input: { reason: 'x', guidance: 'y' } }, 'Done.'], tools, { session });
  expect(session.read(path)).toEqual(['a']);
});

interface Told {
  readonly role: string;
  readonly content: unknown;
}

function textOf(message: Told | undefined): string {
  const parts = (message?.content ?? []) as readonly { type: string; text?: string }[];
  return parts.map(({ text = '' }) => text).join('');
}

/** The texts of the results in the requests to a model. */
function resultsIn(prompt: readonly Told[] = []): readonly unknown[] {
  return prompt
    .filter(({ role }) => role === 'tool')
    .flatMap(({ content }) => (content as { output: { value: unknown } }[]).map(({ output }) => output.value));
}
