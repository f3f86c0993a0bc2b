// A lead and three workers: each answers one question on its own, and cedes what it found to the lead, who sums up.

import { scriptedModel } from '@lastcall/core/testing';
import { cede, charter, createMachine, node, runMachineToCompletion, spawn } from '@lastcall/machines';
import { z } from 'zod';

const LIBRARY: Readonly<Record<string, string>> = {
  height: '330 metres',
  year: '1889',
  steps: '1,665 steps',
};

const researcher = node({
  worker: true,
  instructions: ({ question }) => `Find out: ${question}. Then report.`,
  state: z.object({ question: z.string() }),
  tools: (tool) => ({
    lookUp: tool({
      description: 'Looks a question up in the library.',
      inputSchema: z.object({}),
      effects: 'none',
      execute: (_input, { state }) => LIBRARY[state.question] ?? 'nothing',
    }),
  }),
  transitions: {
    report: {
      description: 'Hand in what you found.',
      inputSchema: z.object({ finding: z.string() }),
      handler: ({ finding }: { finding: string }, { state }) => cede({ [state.question as string]: finding }),
    },
  },
});

const lead = node({
  instructions: 'Send researchers out, one for each question, and sum up what they bring.',
  transitions: {
    delegate: {
      description: 'One researcher for each question.',
      inputSchema: z.object({ questions: z.array(z.string()).min(1).max(5) }),
      targets: ['researcher'],
      handler: ({ questions }: { questions: string[] }) =>
        spawn(questions.map((question) => ({ node: 'researcher', state: { question } }))),
    },
  },
});

const team = charter({ nodes: { lead, researcher } });
const machine = createMachine(team, { root: 'lead' });

const leadModel = scriptedModel([
  { toolName: 'transition_delegate', input: { questions: Object.keys(LIBRARY) } },
  ({ prompt }) => {
    const findings = prompt.flatMap(({ role, content }) =>
      role === 'user' ? content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
    );
    return `What they brought:\n${findings.slice(1).join('\n')}`;
  },
]);

// A worker sees only its own conversation: its question, and what the library returned.
const workerModel = scriptedModel(({ prompt }) => {
  const last = prompt.at(-1);
  if (last?.role !== 'tool') return { toolName: 'lookUp' };
  const [result] = last.content;
  const finding = result?.type === 'tool-result' && 'value' in result.output ? String(result.output.value) : '';
  return { toolName: 'transition_report', input: { finding } };
});

const result = await runMachineToCompletion(machine, {
  input: 'Tell me about the tower.',
  model: ({ worker }) => (worker ? workerModel : leadModel),
});

for (const [index, step] of result.steps.entries())
  console.log(
    `step ${index + 1}: ${step.leaves.map(({ instanceId, yieldReason }) => `${instanceId} ${yieldReason}`).join(', ')}`,
  );
console.log(`\n${result.response}`);
