import { randomUUID } from 'node:crypto';
import type { Task } from '@lastcall/client';
import { type EvalCase, type EvalReport, exact, type Score } from '@lastcall/core/eval';
import type { Api } from '../api.ts';
import { CommandFailed } from '../exit-code.ts';
import { plainLine } from '../terminal/plain-line.ts';
import { findAgent } from './find-agent.ts';
import type { Runner } from './runner.ts';
import { freeName } from './stored-cases.ts';

/** What was different when a task was done again. */
export interface TaskDifference {
  readonly case: string;
  /** The run that did the task, and the one that did it again. */
  readonly runId: string;
  readonly again: string | undefined;
  readonly before: Pick<Task, 'response' | 'calls' | 'tokens'>;
  readonly now: Partial<Pick<Task, 'response' | 'calls' | 'tokens'>> & { readonly error?: string | undefined };
}

/** The last tasks of an agent, which are done again with a draft: with recorded outcomes, and nothing acts outside. */
export class LastTasks {
  readonly #agent: string;
  readonly #tasks: ReadonlyMap<string, Task>;

  private constructor(agent: string, tasks: ReadonlyMap<string, Task>) {
    this.#agent = agent;
    this.#tasks = tasks;
  }

  static async read(api: Api, agent: string, last: number): Promise<LastTasks> {
    const tasks = await api.ask(async (client) => {
      const { id } = await findAgent(client, agent);
      return (await client.agents.tasks(id, { limit: last })).items;
    });
    if (tasks.length === 0) throw new CommandFailed(`${agent} has not completed a task yet.`);
    const cases: EvalCase[] = [];
    for (const { input } of tasks) cases.push({ name: freeName(plainLine(input, 60) || 'task', cases), input });
    return new LastTasks(agent, new Map(tasks.map((task, at) => [cases[at]?.name ?? randomUUID(), task])));
  }

  async run(runner: Runner): Promise<void> {
    const cases = [...this.#tasks].map(([name, { input, response = '', runId }]) => ({
      ...{ name, input, expected: response, run: runId },
    }));
    const name = `${this.#agent}, last ${cases.length} tasks`;
    const calls: Score = ({ case: { name: title = '' }, settlements }) => {
      const before = namesOf(this.#tasks.get(title)?.calls ?? []);
      const now = namesOf(settlements);
      return before === now ? 1 : { value: 0, reason: `It called ${now || 'nothing'}, not ${before || 'nothing'}.` };
    };
    await runner.run({ agent: this.#agent, cases, scores: { 'same answer': exact(), 'same calls': calls } }, name);
  }

  /** The tasks that were not done in the same way. */
  differences({ samples }: EvalReport): readonly TaskDifference[] {
    return samples.flatMap(({ case: name, scores, response, calls = [], error, usage, runId: again }) => {
      const task = this.#tasks.get(name);
      if (task === undefined || (error === undefined && Object.values(scores).every(({ value }) => value === 1)))
        return [];
      const { runId, response: answer, calls: made, tokens } = task;
      const now = { response, calls, tokens: usage?.totalTokens, error };
      return [{ case: name, runId, again, before: { response: answer, calls: made, tokens }, now }];
    });
  }
}

function namesOf(calls: readonly { readonly toolName: string }[]): string {
  return calls.map(({ toolName }) => toolName).join(', ');
}

export function differencesInWords(differences: readonly TaskDifference[] | undefined): readonly string[] {
  if (differences === undefined) return [];
  if (differences.length === 0) return ['All tasks got the same answers with the same calls.'];
  return differences.map(({ case: title, before, now, again }) => {
    const line = (name: string, text: string): string => `  ${name.padEnd(7)} ${plainLine(text, 300)}`;
    const [old, made] = [namesOf(before.calls ?? []), namesOf(now.calls ?? [])];
    return [
      plainLine(title, 100),
      line('before', before.response ?? ''),
      line('now', now.error ?? now.response ?? ''),
      ...(now.error === undefined && old !== made ? [line('calls', `${old || 'none'} → ${made || 'none'}`)] : []),
      ...(again === undefined ? [] : [line('run', again)]),
    ].join('\n');
  });
}
