import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { buildModes, plugin, prompt, section } from '../../src/doors/prompt.ts';
import {
  blocked,
  createSession,
  filterToolSet,
  ok,
  runTurn,
  type ToolSet,
  type TurnOptions,
  type TurnResult,
  tool,
} from '../../src/index.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';

const answer = tool({
  description: 'Answers.',
  inputSchema: z.object({ text: z.string() }),
  terminal: true,
  effects: 'none',
  execute: ({ text }) => (text === 'no' ? blocked('Not that.') : ok({ said: text }, `It is ${text}.`)),
});
const note = tool({ description: 'Notes.', inputSchema: z.object({}), effects: 'none', execute: () => 'noted' });

type Source = Pick<TurnOptions, 'instructions' | 'tools'>;

const sources: readonly (readonly [name: string, offer: (tools: ToolSet) => Source])[] = [
  ['the agent', (tools) => ({ instructions: 'Do it.', tools })],
  ['a function of the step', (tools) => ({ instructions: 'Do it.', tools: () => tools })],
  ['a section', (tools) => ({ instructions: sectioned(tools) })],
  ['a plugin', (tools) => plugged(tools)],
];

function sectioned(tools: ToolSet): NonNullable<TurnOptions['instructions']> {
  return prompt({ ns: 'test', key: 'it', sections: [section({ key: 'it', title: 'It', template: 'Do it.', tools })] });
}

function plugged(tools: ToolSet): Source {
  const one = plugin({
    name: 'one',
    tools: () => tools,
    getAgentConfig: (_, __, all) => ({
      instructions: 'Do it.',
      tools: filterToolSet(all, 'include', ['note', 'answer']),
    }),
  });
  return buildModes({ plugins: [one], modes: ['main'], ctx: undefined }).main;
}

describe.each(sources)('a terminal tool of %s', (_, offer) => {
  const turn = async (...replies: readonly ScriptedReply[]): Promise<{ result: TurnResult; system: string }> => {
    const model = scriptedModel(replies);
    const result = await runTurn({ ...offer({ note, answer }), model, prompt: 'Go.', session: createSession() });
    expect(model.requests).toHaveLength(replies.length);
    return { result, system: String(model.requests[0]?.prompt[0]?.content) };
  };
  const calling = (text: unknown) => ({ toolName: 'answer', input: { text } });
  const statuses = ({ settlements }: TurnResult) => settlements.map(({ outcome }) => outcome.status);

  test('[R13] ends the turn with its text and value, and is listed in the instructions', async () => {
    const { result, system } = await turn([{ toolName: 'note' }, calling('seven')]);
    expect(result).toMatchObject({
      response: 'It is seven.\n\n{"said":"seven"}',
      output: { said: 'seven' },
      stop: { reason: 'end_turn', by: 'terminal', tool: 'answer' },
      steps: 1,
    });
    expect(result.settlements.map(({ terminal }) => terminal)).toEqual([undefined, true]);
    expect(system).toMatch(
      /Do it\.\n\n## Terminal Tools\nThese tools generate your final response:\n- answer: Answers\.\n/,
    );
  });

  test.each([
    ['is blocked', 'no', 'blocked'],
    ['has invalid input', 5, 'invalid_input'],
  ])('[R13] that %s does not end the turn', async (_, text, code) => {
    const { result } = await turn(calling(text), 'Well.');
    expect(result).toMatchObject({ response: 'Well.', stop: { reason: 'end_turn', by: 'text' }, steps: 2 });
    expect(result.settlements[0]?.outcome).toMatchObject({ status: 'error', code });
  });

  test('[R13] that has succeeded stops the rest of its batch', async () => {
    const { result } = await turn([calling('one'), calling('two'), { toolName: 'note' }]);
    expect(statuses(result)).toEqual(['ok', 'error', 'skipped']);
    expect(result.settlements[1]?.outcome).toMatchObject({ code: 'terminal_already_called' });
    expect(result.output).toEqual({ said: 'one' });
  });
});
