import { tool as aiTool } from 'ai';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { prompt, section } from '../../src/doors/prompt.ts';
import {
  blocked,
  configureTools,
  createSession,
  fail,
  mergeToolSets,
  ok,
  pending,
  reply,
  runTurn,
  type ToolSet,
  Transcript,
  tool,
  wrapToolSet,
} from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { note, notes } from './noting.ts';

const none = z.object({});
const answer = tool({
  description: 'Answers.',
  inputSchema: z.object({ text: z.string() }),
  terminal: true,
  execute: ({ text }) => text,
});
const transition = (execute: () => unknown = () => ({ to: 'elsewhere' })) =>
  tool({ description: 'Leaves.', inputSchema: none, transition: true, execute });
const noted = (what: string) => ({ toolName: 'note', input: { what } });
const answered = (text: string) => ({ toolName: 'answer', input: { text } });
const by = (tool: string) => ({ reason: 'end_turn', by: 'terminal', tool });
const statuses = (settlements: readonly { outcome: { status: string } }[]): string[] =>
  settlements.map(({ outcome }) => outcome.status);
const opened = () => createSession({ slices: [notes] });

test('[R8] a terminal tool that succeeds ends the turn: its text byte for byte, its value, and no further model call', async () => {
  const format = tool({
    description: 'Formats.',
    inputSchema: z.object({ items: z.array(z.string()) }),
    terminal: true,
    execute: ({ items }) => items.map((item, index) => `${index + 1}. ${item}`).join('\n'),
  });
  const model = scriptedModel([
    { text: 'Here you are:', calls: [{ toolName: 'format', input: { items: ['Apple', 'Banana'] } }] },
  ]);
  const result = await runTurn({ model, tools: { format }, prompt: 'List them.' });
  expect(result).toMatchObject({
    response: '1. Apple\n2. Banana',
    output: '1. Apple\n2. Banana',
    stop: by('format'),
    steps: 1,
  });
  expect(model.requests).toHaveLength(1);
  expect(result.settlements[0]).toMatchObject({ terminal: true });
});

// Any code units, including zeros and lone surrogates.
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));

test('[R8] the response is the text byte for byte, whatever is in it', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const { response, output } = await runTurn({
        prompt: 'Go.',
        model: scriptedModel([[answered(text)]]),
        tools: { answer },
      });
      expect({ response, output }).toEqual({ response: text, output: text });
    }),
    { numRuns: 50 },
  );
});

test.each<[string, unknown, string, unknown]>([
  ['an object', { n: 1, gone: undefined }, '{"n":1}', { n: 1 }],
  ['nothing', undefined, '', undefined],
  ['ok with a message', ok({ n: 1 }, 'Found.'), 'Found.\n\n{"n":1}', { n: 1 }],
  ['two texts', reply({ user: 'Hello!', model: 'greeted' }), 'Hello!', { user: 'Hello!', model: 'greeted' }],
])('[R8] of %s the response is the text for the person, and the output the value', async (_what, value, text, out) => {
  const give = tool({ description: 'd', inputSchema: none, terminal: true, execute: () => value });
  const { response, output } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([{ toolName: 'give' }]),
    tools: { give },
  });
  expect(response).toBe(text);
  expect(output).toEqual(out);
});

test('[R8] a finished turn that is run again on its transcript returns the same, and asks no model', async () => {
  const first = await runTurn({ model: scriptedModel([[answered('Done.')]]), tools: { answer }, prompt: 'Go' });
  const silent = scriptedModel([]);
  const again = await runTurn({ model: silent, tools: { answer }, transcript: first.transcript });
  expect(again).toMatchObject({ response: 'Done.', output: 'Done.', stop: by('answer') });
  expect(silent.requests).toHaveLength(0);
});

const failures: [string, object, string][] = [
  ['throws', { execute: () => Promise.reject(new Error('broke')) }, 'execution'],
  ['fails', { execute: () => fail('no') }, 'execution'],
  ['is blocked', { execute: () => blocked('house rule') }, 'blocked'],
  ['times out', { timeoutMs: 1, execute: () => new Promise(() => {}) }, 'timeout'],
  ['has invalid input', { inputSchema: z.object({ n: z.number() }) }, 'invalid_input'],
  ['is denied', { policies: [{ name: 'p', beforeCall: () => ({ deny: 'not now' }) }] }, 'denied'],
  ['breaks its output schema', { outputSchema: z.number(), execute: () => 'a' }, 'execution'],
];
test.each(failures)(
  '[R9] a terminal tool that %s does not end the turn; the model sees the error',
  async (_how, more, code) => {
    const end = tool({ description: 'd', inputSchema: none, terminal: true, execute: () => 'end', ...more } as never);
    const model = scriptedModel([{ toolName: 'end' }, 'I see.']);
    const { stop, response, settlements } = await runTurn({ prompt: 'Go.', model, tools: { end } });
    expect(settlements[0]?.outcome).toMatchObject({ status: 'error', code });
    expect({ stop, response }).toEqual({ stop: { reason: 'end_turn', by: 'text' }, response: 'I see.' });
    expect(model.requests[1]?.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ output: { type: 'error-text', value: settlements[0]?.outcome.text } }],
    });
  },
);

test.each(['skip', 'run'] as const)(
  '[R10] of two terminal calls the first to succeed counts; the later one does not run (afterTerminal: %s)',
  async (afterTerminal) => {
    const ran: string[] = [];
    const end = tool({
      description: 'd',
      inputSchema: z.object({ as: z.string() }),
      terminal: true,
      execute: ({ as }) => {
        ran.push(as);
        return as === 'bad' ? fail('no') : as;
      },
    });
    const end2 = { ...end };
    const call = (toolName: string, as: string) => ({ toolName, input: { as } });
    const { response, output, stop, settlements } = await runTurn({
      prompt: 'Go.',
      model: scriptedModel([[call('end', 'bad'), call('end', 'one'), call('end2', 'two'), call('end', 'three')]]),
      tools: { end, end2 },
      batch: { afterTerminal },
    });
    expect(ran).toEqual(['bad', 'one']);
    expect({ response, output, stop }).toEqual({ response: 'one', output: 'one', stop: by('end') });
    expect(settlements.map(({ outcome }) => outcome.status === 'error' && outcome.code)).toEqual([
      'execution',
      false,
      'terminal_already_called',
      'terminal_already_called',
    ]);
  },
);

test.each([
  ['terminal first', [answered('bye'), { toolName: 'leave' }]],
  ['transition first', [{ toolName: 'leave' }, answered('bye')]],
])(
  '[R11] a terminal and a transition, %s: both run, the transition takes effect, the result is history',
  async (_order, calls) => {
    const model = scriptedModel([calls]);
    const { stop, response, output, settlements, transcript } = await runTurn({
      prompt: 'Go.',
      model,
      tools: { answer, leave: transition() },
    });
    expect(stop).toMatchObject({ reason: 'transition', tool: 'leave', value: { to: 'elsewhere' } });
    expect({ response, output }).toEqual({ response: '', output: undefined });
    expect(statuses(settlements)).toEqual(['ok', 'ok']);
    expect(JSON.stringify(transcript.view().at(-1))).toContain('bye');
    expect(model.requests).toHaveLength(1);
  },
);

test.each([
  ['terminal first', [answered('bye'), { toolName: 'leave' }]],
  ['transition first', [{ toolName: 'leave' }, answered('bye')]],
])('[R11] if the transition fails, the terminal counts, %s', async (_order, calls) => {
  const { stop, response } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([calls]),
    tools: { answer, leave: transition(() => fail('locked')) },
  });
  expect({ stop, response }).toEqual({ stop: by('answer'), response: 'bye' });
});

test('[R12] by default calls before a terminal run, calls after it settle skipped', async () => {
  const session = opened();
  const { settlements, response } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[noted('a'), answered('x'), noted('b'), { toolName: 'nobody' }, noted('c')]]),
    tools: { note, answer },
    session,
  });
  expect(response).toBe('x');
  expect(statuses(settlements)).toEqual(['ok', 'ok', 'skipped', 'skipped', 'skipped']);
  expect(settlements[2]?.outcome).toMatchObject({ reason: expect.stringContaining('"answer"') });
  expect(session.read(notes)).toEqual(['a']);
});

test('[R12] under cancel-rest too, calls after a terminal that succeeded are skipped and not cancelled', async () => {
  const { settlements } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[answered('x'), noted('b'), noted('c')]]),
    tools: { note, answer },
    session: opened(),
    batch: { onError: 'cancel-rest' },
  });
  expect(statuses(settlements)).toEqual(['ok', 'skipped', 'skipped']);
});

test("[R12] with afterTerminal 'run' plain calls after it run too, and its text stays the response", async () => {
  const session = opened();
  const { settlements, response, stop } = await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[answered('x'), noted('b'), { toolName: 'nobody' }, noted('c')]]),
    tools: { note, answer },
    session,
    batch: { afterTerminal: 'run' },
  });
  expect({ response, stop }).toEqual({ response: 'x', stop: by('answer') });
  expect(statuses(settlements)).toEqual(['ok', 'ok', 'error', 'ok']);
  expect(session.read(notes)).toEqual(['b', 'c']);
});

test('[R12] a terminal tool that fails skips nothing', async () => {
  const session = opened();
  await runTurn({
    prompt: 'Go.',
    model: scriptedModel([[{ toolName: 'answer', input: {} }, noted('b')], 'done']),
    tools: { note, answer },
    session,
  });
  expect(session.read(notes)).toEqual(['b']);
});

const foreign = aiTool({
  description: 'Made by the AI SDK.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text,
});
const ofSection = prompt({
  ns: 'tests',
  key: 'p',
  sections: [
    section({
      key: 'outer',
      title: 'Outer',
      template: 'o',
      children: [section({ key: 'inner', title: 'Inner', template: 'i', tools: { answer } })],
    }),
  ],
});
test.each<[string, object]>([
  ['the agent', { tools: { answer } }],
  ['a section', { instructions: ofSection }],
  ['a section beside the agent', { instructions: ofSection, tools: { note } }],
  ['a step', { tools: () => ({ answer }) }],
  ['a spread copy', { tools: { answer: { ...answer } } }],
  ['a merged set', { tools: mergeToolSets({ note }, { answer }) }],
  ['a wrapped set', { tools: wrapToolSet({ answer }, { name: 'm', call: (next) => next() }) }],
  [
    'a tool configured from outside',
    { tools: configureTools({ answer: { ...answer, terminal: false } }, { answer: { terminal: true } }) },
  ],
  ['an AI SDK object', { tools: configureTools({ answer: foreign as never }, { answer: { terminal: true } }) }],
  [
    'an AI SDK object configured by a star',
    { tools: configureTools({ answer: foreign as never }, { '*': { terminal: true } }) },
  ],
])('[R13] the terminal flag works the same for a tool of %s', async (_origin, options) => {
  const model = scriptedModel([[answered('x'), answered('y')]]);
  const { response, stop, settlements } = await runTurn({ prompt: 'Go.', model, ...options });
  expect({ response, stop }).toEqual({ response: 'x', stop: by('answer') });
  expect(settlements[1]?.outcome).toMatchObject({ code: 'terminal_already_called' });
  expect(model.requests[0]?.prompt[0]).toMatchObject({
    role: 'system',
    content: expect.stringContaining('- answer: '),
  });
});

test('[R14] pending() from a terminal tool is error/execution, and the turn continues', async () => {
  const wait = tool({ description: 'd', inputSchema: none, terminal: true, execute: () => pending() });
  const {
    settlements,
    stop,
    pending: waiting,
  } = await runTurn({ prompt: 'Go.', model: scriptedModel([{ toolName: 'wait' }, 'on']), tools: { wait } });
  expect(settlements[0]?.outcome).toMatchObject({ status: 'error', code: 'execution' });
  expect(waiting).toEqual([]);
  expect(stop).toEqual({ reason: 'end_turn', by: 'text' });
});

test('[R14] a tool that is answered elsewhere cannot be terminal: it is refused before any model call, naming it', async () => {
  const { execute: _, ...ask } = { ...note, description: 'Asks a person.' };
  const sets = (): ToolSet[] => [
    { ask: { ...ask, terminal: true } },
    configureTools({ ask }, { ask: { terminal: true } }),
  ];
  const model = scriptedModel([{ toolName: 'ask', input: { what: 'x' } }]);
  for (const at of [0, 1]) {
    const failing = (async () => runTurn({ prompt: 'Go.', model, tools: sets()[at] as ToolSet }))();
    await expect(failing).rejects.toMatchObject({ code: 'tool_definition', tool: 'ask', field: 'terminal' });
  }
  expect(model.requests).toHaveLength(0);
});

const listing = (...lines: string[]): string =>
  [
    '## Terminal Tools',
    'These tools generate your final response:',
    ...lines,
    '',
    'When you call a terminal tool, its output IS your response. Do not add text after calling one.',
  ].join('\n');
const systemOf = (model: ReturnType<typeof scriptedModel>, request = 0): unknown => {
  const first = model.requests[request]?.prompt[0];
  return first?.role === 'system' ? first.content : undefined;
};

test('[T45] each request lists exactly its terminal tools, after instructions that are a text', async () => {
  const model = scriptedModel([[noted('a')], 'done']);
  await runTurn({ model, instructions: 'Be brief.', tools: { note, answer }, session: opened(), prompt: 'Go' });
  for (const request of [0, 1]) expect(systemOf(model, request)).toBe(`Be brief.\n\n${listing('- answer: Answers.')}`);
});

test('[T45] each request lists exactly its terminal tools, after instructions that are a prompt, once', async () => {
  const model = scriptedModel(['done']);
  const other = { ...answer, description: 'Answers otherwise.' };
  await runTurn({ model, instructions: ofSection, tools: { note, other }, prompt: 'Go' });
  const system = String(systemOf(model));
  expect(system.endsWith(`\n\n${listing('- answer: Answers.', '- other: Answers otherwise.')}`)).toBe(true);
  expect(system.split('## Terminal Tools')).toHaveLength(2);
});

test('[T45] the list has the tools of the step with their current descriptions', async () => {
  const model = scriptedModel([[noted('a')], 'done']);
  const late = tool({ ...answer, description: (session) => `After ${session.read(notes).length} notes.` });
  await runTurn({
    prompt: 'Go.',
    model,
    instructions: 'Be brief.',
    tools: ({ step }) => (step === 1 ? { note } : { note, late }) as ToolSet,
    session: opened(),
  });
  expect([systemOf(model, 0), systemOf(model, 1)]).toEqual([
    'Be brief.',
    `Be brief.\n\n${listing('- late: After 1 notes.')}`,
  ]);
});

test('[T45] without instructions there is only the list; without terminal tools there is none', async () => {
  const model = scriptedModel(['done', 'done']);
  await runTurn({ model, tools: { answer }, prompt: 'Go' });
  await runTurn({ model, tools: { note }, prompt: 'Go' });
  expect([systemOf(model, 0), systemOf(model, 1)]).toEqual([listing('- answer: Answers.'), undefined]);
});

test('[T45] under a contract a terminal tool that is not listed is plain, and is not listed as terminal', async () => {
  const model = scriptedModel([[answered('plain here')], [{ toolName: 'end' }]]);
  const end = tool({ description: 'Ends.', inputSchema: none, terminal: true, execute: () => 'end' });
  const { response } = await runTurn({
    prompt: 'Go.',
    model,
    tools: { answer, end },
    terminating: { toolIds: ['end'] },
  });
  expect(response).toBe('end');
  expect(systemOf(model)).toBe(listing('- end: Ends.'));
});

test('a transition that runs last sees the effects of later calls of its batch, and results are in call order', async () => {
  const done: string[] = [];
  const act = tool({ description: 'Acts.', inputSchema: none, execute: () => void done.push('act') });
  const leave = transition(() => done.join());
  const { settlements, stop } = await runTurn({
    model: scriptedModel([[{ toolName: 'leave' }, { toolName: 'act' }]]),
    prompt: 'go',
    tools: { act, leave },
    batch: { transitions: 'last' },
  });
  expect(stop).toMatchObject({ reason: 'transition', value: 'act' });
  expect(settlements.map(({ toolName }) => toolName)).toEqual(['leave', 'act']);
});

const saying = (execute = ({ text }: { text: string }) => ok({ text }, 'Sent.', { final: true })) =>
  tool({ description: 'Says.', inputSchema: z.object({ text: z.string() }), effects: 'session', execute });
const said = (text: string) => ({ toolName: 'say', input: { text } });

test('[K3] a result that is final ends the turn if all calls of its batch succeeded, before and after it', async () => {
  const model = scriptedModel([[noted('one'), said('Done.'), noted('two')]]);
  const result = await runTurn({ model, tools: { note, say: saying() }, prompt: 'Go.', session: opened() });
  expect(result).toMatchObject({ stop: by('say'), output: { text: 'Done.' }, steps: 1 });
  expect(statuses(result.settlements)).toEqual(['ok', 'ok', 'ok']);
  expect(model.requests).toHaveLength(1);
});

test('[K3] a final result does not end the turn if another call of its batch failed, or under a terminating contract', async () => {
  const broken = tool({ description: 'Fails.', inputSchema: none, execute: () => fail('No.') });
  const failing = scriptedModel([[{ toolName: 'broken' }, said('Done.')], 'It failed.']);
  const tools = { broken, say: saying(), answer };
  const first = await runTurn({ model: failing, tools, prompt: 'Go.' });
  expect(first).toMatchObject({ stop: { reason: 'end_turn', by: 'text' }, response: 'It failed.' });
  const bound = scriptedModel([[said('Done.')], [answered('The end.')]]);
  const second = await runTurn({ model: bound, tools, prompt: 'Go.', terminating: { toolIds: ['answer'] } });
  expect(second).toMatchObject({ stop: { by: 'terminating', tool: 'answer' }, steps: 2 });
});

test('[K3] a turn that was interrupted after its final call ends without asking the model again', async () => {
  const model = scriptedModel([[said('Done.')]]);
  const tools = { say: saying() };
  const { transcript } = await runTurn({ model, tools, prompt: 'Go.' });
  const cut = new Transcript(transcript.entries.filter(({ kind }) => kind !== 'stop'));
  const resumed = await runTurn({ model: scriptedModel([]), tools, transcript: cut });
  expect(resumed).toMatchObject({ stop: by('say'), steps: 1 });
});

/** Two parallel calls of a tool, whose second one is settled first if `isReversed`. */
async function lookUpTwice(find: (q: number) => unknown, isReversed: boolean) {
  const lookup = tool({
    description: 'Looks up.',
    effects: 'none',
    inputSchema: z.object({ q: z.number() }),
    async execute({ q }) {
      if ((q === 1) === isReversed) await new Promise((resolve) => setTimeout(resolve, 20));
      return find(q);
    },
  });
  const asked = [1, 2].map((q) => ({ toolName: 'lookup', input: { q } }));
  return await runTurn({ model: scriptedModel([asked]), prompt: 'Go.', tools: { lookup } });
}

test('[R8] of two parallel calls of a tool, one of them final, the response is that of the final call', async () => {
  const find = (q: number) => (q === 1 ? ok('the answer', 'Found.', { final: true }) : 'just data');
  const result = await lookUpTwice(find, false);
  expect(result.stop).toEqual({ reason: 'end_turn', by: 'terminal', tool: 'lookup' });
  expect([result.response, result.output]).toEqual(['Found.\n\nthe answer', 'the answer']);
});

test('[R8] of two parallel calls that are both final, the response is that of the last one that the model asked for', async () => {
  const { output } = await lookUpTwice((q) => ok(`answer ${q}`, 'Found.', { final: true }), true);
  expect(output).toBe('answer 2');
});
