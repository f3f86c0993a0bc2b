/** A library that runs the same work: a number of steps in which the model calls one tool, then a text. */
export interface Contender {
  /** What was run, e.g. `generateText`. */
  readonly name: string;
  /** Package and version. */
  readonly of: string;
  /** Runs the work once. Returns how often the tool ran, so that a contender that skips work is noticed. */
  run(steps: number): Promise<number>;
}

/** The same question, call and answer for all. */
export const task = {
  prompt: 'Add up the numbers.',
  toolName: 'add',
  description: 'Adds two numbers.',
  input: '{"a":1,"b":2}',
  answer: 'Done.',
} as const;

/** Throws if a contender did not run the tool exactly once a step. */
export async function runChecked(contender: Contender, steps: number): Promise<void> {
  const ran = await contender.run(steps);
  if (ran !== steps) throw new Error(`${contender.name} ran the tool ${ran} times instead of ${steps}.`);
}
