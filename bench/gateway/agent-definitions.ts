import type { LanguageModelV4 } from '@ai-sdk/provider';
import { section, slice, type Tool, tool } from '@lastcall/core';
import { prompt } from '@lastcall/core/prompt';
import { type AgentDefinition, defineAgent } from '@lastcall/gateway';
import { charter, node, spawn, suspend } from '@lastcall/machines';
import { z } from 'zod';
import { type Called, countingModel } from '../overhead/counting-model.ts';

/** Tool steps in each run. If the definition's features are used, one step writes to the session, one writes a file, and one does neither. */
export const STEPS = Number(process.env.BENCH_STEPS ?? 3);

const notes = slice('notes', {
  initial: { count: 0, last: '' },
  on: { Noted: ({ count }, { text }: { type: 'Noted'; text: string }) => ({ count: count + 1, last: text }) },
});

const inputSchema = z.object({ text: z.string() });

/** Definitions of the agents that are measured. `ran` is called each time a tool runs. */
export function benchDefinitions(
  ran: () => void,
  add: Tool<{ a: number; b: number }, number>,
): Readonly<Record<string, AgentDefinition>> {
  const note = tool({
    description: 'Notes a text in the session.',
    inputSchema,
    slices: [notes],
    execute({ text }, { session }) {
      ran();
      session.dispatch({ type: 'Noted', text });
      return session.read(notes).count;
    },
  });
  const write = tool({
    description: 'Writes a text to a file.',
    inputSchema,
    async execute({ text }, { filesystem }) {
      ran();
      await filesystem.writeText('note.md', text);
      return 'Written.';
    },
  });
  const manual = section({
    key: 'manual',
    title: 'Manual',
    visibility: 'summary',
    summary: 'How to note.',
    template: 'Note each text once, and write the last one to note.md.',
    tools: { note, write },
  });
  const rules = section({ key: 'rules', title: 'Rules', template: 'Note what you hear.' });
  const worker = node({
    worker: true,
    instructions: 'You are a worker.',
    transitions: { ask: { description: 'Asks.', handler: () => suspend('May I?') } },
  });
  const talker = node({ instructions: 'Note what you hear.', tools: { add } });
  const lead = node({
    instructions: 'You are the lead.',
    transitions: {
      hire: {
        description: 'Hires workers that wait.',
        inputSchema: z.object({ workers: z.number() }),
        targets: ['talker', 'worker'],
        handler: ({ workers }: { workers: number }) =>
          spawn(['talker', ...Array.from({ length: workers }, () => 'worker')]),
      },
    },
  });
  return {
    turn: defineAgent({ tools: { add: { tool: add, visible: false } } }),
    used: defineAgent({
      instructions: prompt({ ns: 'bench', key: 'used', sections: [rules, manual] }),
      tools: { add: { tool: add, visible: false } },
      slices: [notes],
      files: true,
    }),
    machine: defineAgent({ machine: charter({ nodes: { talker } }) }),
    company: defineAgent({ machine: charter({ nodes: { lead, talker, worker } }) }),
  };
}

const text = JSON.stringify({ text: 'A line of text.' });
const USED: readonly Called[] = [
  { toolName: 'note', input: text },
  { toolName: 'write', input: text },
  { toolName: 'add', input: '{"a":1,"b":2}' },
];

/** Calls each of the three tools in each run. While its section is closed, it opens it first. */
export function usingModel(): LanguageModelV4 {
  const opening = { toolName: 'open_sections', input: '{"keys":["manual"]}' };
  return inTurns((tools) => (tools.includes('note') ? USED : [opening, ...USED]));
}

/** Makes `steps` calls of `add` in each run. As a lead it hires as many workers as its event says; each worker asks and waits. */
export function addingModel(steps: number): LanguageModelV4 {
  const talking = inTurns(() => Array.from({ length: steps }, () => ADD));
  let asked = 0;
  return {
    ...talking,
    doStream(options) {
      const system = String(options.prompt[0]?.content);
      if (system.startsWith('You are a worker.')) return countingModel(1, ASK, ++asked).doStream(options);
      if (!system.startsWith('You are the lead.')) return talking.doStream(options);
      const [, workers] = /hire (\d+)/.exec(JSON.stringify(options.prompt)) ?? [];
      return countingModel(1, { toolName: 'transition_hire', input: `{"workers":${workers}}` }).doStream(options);
    },
  };
}

const ADD: Called = { toolName: 'add', input: '{"a":1,"b":2}' };
const ASK: Called = { toolName: 'transition_ask', input: '{}' };

/** In each run the calls, one a step, and then the answer. One run at a time. */
function inTurns(callsOf: (tools: readonly string[]) => readonly Called[]): LanguageModelV4 {
  let rest: readonly (Called | undefined)[] = [];
  let calls = 0;
  return {
    ...countingModel(0),
    doStream(options) {
      if (rest.length === 0) rest = [...callsOf((options.tools ?? []).map(({ name }) => name)), undefined];
      const [call, ...others] = rest;
      rest = others;
      return (call === undefined ? countingModel(0) : countingModel(1, call, ++calls)).doStream(options);
    },
  };
}
