/** A library that runs the same work: a number of steps in which the model calls one tool, then a text. */
export interface Contender {
  /** What was run, e.g. `generateText`. */
  readonly name: string;
  /** Package and version. */
  readonly of: string;
  /** Runs the work once and gives how often the tool was run, so that nobody is quick by leaving something out. */
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

/** Throws where a contender did less than it was asked to. */
export async function runChecked(contender: Contender, steps: number): Promise<void> {
  const ran = await contender.run(steps);
  if (ran !== steps) throw new Error(`${contender.name} ran the tool ${ran} times instead of ${steps}.`);
}
