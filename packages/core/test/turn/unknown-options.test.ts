import { tool as aiTool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { plugin, prompt, section } from '../../src/doors/prompt.ts';
import {
  cache,
  createBudget,
  createSession,
  dispatchCall,
  resource,
  retry,
  runTurn,
  slice,
  streamTurn,
  Transcript,
  tool,
} from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const none = z.object({});
const act = tool({ description: 'Acts.', inputSchema: none, execute: () => 'done' });

// Called as from JavaScript, without type checks.
type Loose = (...args: unknown[]) => unknown;
const loose = (call: unknown): Loose => call as Loose;

test.each<[string, string, object]>([
  ['system', 'instructions', { system: 'Be brief.' }],
  ['toolz', 'tools', { toolz: {} }],
  ['max_steps', 'maxSteps', { max_steps: 3 }],
  ['abortSignal', 'signal', { abortSignal: new AbortController().signal }],
  ['temperature', 'modelSettings.temperature', { temperature: 0 }],
  ['batch.onErrors', 'batch.onError', { batch: { onErrors: 'cancel-rest' } }],
  ['terminating.toolIDs', 'terminating.toolIds', { terminating: { toolIds: ['act'], toolIDs: ['act'] } }],
  ['rewind.maximum', 'rewind.max', { rewind: { maximum: 3 } }],
  ['budget.token', 'budget.tokens', { budget: { token: 3 } }],
])('[R53] the option "%s" of a turn is refused with its path, and "%s" is proposed', async (field, meant, options) => {
  const model = scriptedModel(['never']);
  const all = { model, prompt: 'Go.', tools: { act }, ...options };
  for (const running of [loose(runTurn)(all), (streamTurn(all as never) as { result: Promise<unknown> }).result])
    await expect(running).rejects.toMatchObject({
      code: 'options',
      field,
      message: `Option "${field}" is not known. Did you mean "${meant}"?`,
    });
  expect(model.requests).toHaveLength(0);
});

test('[R53] an option without a similar one is refused with the list of known ones', async () => {
  await expect(loose(runTurn)({ model: scriptedModel([]), prompt: 'Go.', zzzzzzzzzz: 1 })).rejects.toThrow(
    /^Option "zzzzzzzzzz" is not known\. Known: model, instructions, .*, unusedAnswers\.$/,
  );
});

test('[R53] an unknown option of a turn inside a call is refused there', async () => {
  const model = scriptedModel([{ toolName: 'ask' }, 'done']);
  const ask = tool({
    description: 'Asks.',
    inputSchema: none,
    execute: (_input, ctx) => loose(ctx.runTurn)({ prompt: 'Go.', system: 'Be brief.', endsParent: true }),
  });
  const { settlements } = await runTurn({ model, tools: { ask }, prompt: 'Go.' });
  expect(settlements[0]?.outcome).toMatchObject({
    status: 'error',
    message: 'Option "system" is not known. Did you mean "instructions"?',
  });
});

test('[R53] an unknown name whose value is undefined is ignored, like a known one', async () => {
  const options = { model: scriptedModel(['Done.']), prompt: 'Go.', system: undefined, maxSteps: undefined };
  expect(await loose(runTurn)(options)).toMatchObject({ response: 'Done.' });
});

test.each<[string, string, object]>([
  ['parameters', 'inputSchema', { parameters: none }],
  ['timeoutMS', 'timeoutMs', { timeoutMS: 5 }],
  ['needsApproval', 'approval', { needsApproval: true }],
  ['effect', 'effects', { effect: 'none' }],
  [
    'examples[1].outputs',
    'examples[1].output',
    {
      examples: [
        { description: 'd', input: {} },
        { description: 'd', input: {}, outputs: 1 },
      ],
    },
  ],
])('[R53] the field "%s" of a tool is refused by name, and "%s" is proposed', (field, meant, more) => {
  const define = (): unknown =>
    loose(tool)({ name: 'act', description: 'Acts.', inputSchema: none, execute: () => 'done', ...more });
  expect(define).toThrow(`Tool "act": ${field} is not known. Did you mean "${meant}"?`);
  expect(define).toThrow(expect.objectContaining({ code: 'tool_definition', field }));
});

test('[R53] a tool whose schema has the name of another library is told what it is called here', () => {
  const define = (field: object): unknown => loose(tool)({ name: 'act', description: 'Acts.', ...field });
  expect(() => define({ parameters: z.object({}) })).toThrow(
    'Tool "act": parameters is not known. Did you mean "inputSchema"?',
  );
  expect(() => define({ schema: z.object({}) })).toThrow('schema is not known. Did you mean "inputSchema"?');
  expect(() => define({ inputSchema: z.object({}), examples: {} })).toThrow('examples must be an array');
  expect(() => define({ inputSchema: z.object({}), examples: [null] })).toThrow('examples[0].description');
});

test('[R53] [T7] additional fields of AI SDK tools are accepted', async () => {
  const theirs = {
    ...aiTool({ inputSchema: none, execute: async () => 'theirs' }),
    strict: true,
    title: 'T',
    custom: 1,
  };
  const { settlements } = await runTurn({
    model: scriptedModel([{ toolName: 'theirs' }, 'done']),
    tools: { theirs },
    prompt: 'Go.',
  });
  expect(settlements[0]?.outcome).toMatchObject({ status: 'ok', value: 'theirs' });
});

test('[R53] additional fields that a host puts on a copy of a tool are accepted', async () => {
  const marked = { ...act, visible: true };
  const { settlements } = await runTurn({
    model: scriptedModel([{ toolName: 'marked' }, 'done']),
    tools: { marked },
    prompt: 'Go.',
  });
  expect(settlements[0]?.outcome.status).toBe('ok');
});

test.each<[string, string, () => unknown]>([
  [
    'dispatchCall',
    'Option "timeout" is not known. Did you mean "deadline"?',
    () => loose(dispatchCall)({ tools: { act }, call: { toolName: 'act' }, timeout: 5 }),
  ],
  [
    'a call',
    'Option "call.args" is not known. Did you mean "call.input"?',
    () => loose(dispatchCall)({ tools: { act }, call: { toolName: 'act', args: {} } }),
  ],
  ['createSession', 'Option "slice" is not known. Did you mean "slices"?', () => loose(createSession)({ slice: [] })],
  [
    'createBudget',
    'Option "budget.toolcall" is not known. Did you mean "budget.toolCalls"?',
    () => loose(createBudget)({ toolcall: 1 }),
  ],
  ['retry', 'Option "attempt" is not known. Did you mean "attempts"?', () => loose(retry)({ attempts: 1, attempt: 2 })],
  ['cache', 'Option "ttl" is not known. Did you mean "ttlMs"?', () => loose(cache)({ ttlMs: 1, ttl: 2 })],
  [
    'slice',
    'Slice "s": reducers is not known. Did you mean "on"?',
    () => loose(slice)('s', { initial: 0, on: {}, reducers: {} }),
  ],
  [
    'resource',
    'Resource "r": close is not known. Did you mean "dispose"?',
    () => loose(resource)('r', { create: () => 1, close: () => {} }),
  ],
  [
    'prompt',
    `A prompt's section is not known. Did you mean "sections"?`,
    () => loose(prompt)({ ns: 'n', key: 'k', sections: [], section: [] }),
  ],
  [
    'section',
    'Section "s": body is not known. Did you mean "template"?',
    () => loose(section)({ key: 's', title: 'S', template: '', body: '' }),
  ],
  [
    'plugin',
    'hook is not known. Did you mean "hooks"?',
    () => loose(plugin)({ name: 'p', tools: () => ({}), getAgentConfig: () => ({}), hook: {} }),
  ],
])('[R53] an option that %s does not know is refused with the nearest known name', async (_what, message, call) => {
  await expect((async () => call())()).rejects.toThrow(message);
});

test.each<[string, object]>([
  ['nothing at all', {}],
  ['instructions alone', { instructions: 'Be brief.' }],
  ['no messages', { messages: [] }],
  ['an empty transcript', { transcript: new Transcript() }],
  ['a transcript in which nothing is said', { transcript: new Transcript([{ kind: 'turn' }]) }],
])('[R53] a turn that is given %s is refused before the model is asked', async (_what, options) => {
  const model = scriptedModel(['never']);
  await expect(runTurn({ model, tools: { act }, ...options })).rejects.toMatchObject({
    code: 'options',
    field: 'prompt',
    message: expect.stringContaining('give a prompt, messages, or a transcript with messages'),
  });
  expect(model.requests).toHaveLength(0);
});

test('[R53] a turn that waits for its transcript then sees the messages of the turn before', async () => {
  const transcript = new Transcript();
  const model = scriptedModel(['One.', 'Two.']);
  const first = runTurn({
    model,
    transcript,
    prompt: 'Go.',
    maxSteps: 1,
    terminating: { toolIds: ['act'] },
    tools: { act },
  });
  const second = runTurn({ model, transcript });
  expect((await first).stop).toEqual({ reason: 'max_steps' });
  expect((await second).response).toBe('Two.');
});
