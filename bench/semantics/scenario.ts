import type { Observation, Subject } from './subject.ts';
import type { SubjectName } from './subjects.ts';

/** Something that happens to a run, and how to observe it. The text of a cell is computed from the observation. */
export interface Scenario {
  readonly title: string;
  /** What is done, and what the words in the cells mean. */
  readonly told: string;
  observe(subject: Subject, name: SubjectName): Promise<string>;
}

/** Notes what tools do, in order. */
export class Notebook {
  readonly notes: string[] = [];

  note(what: string): string {
    this.notes.push(what);
    return `${what} done`;
  }

  times(what: string): number {
    return this.notes.filter((note) => note === what).length;
  }
}

/** How a run ended, in words. */
export function endOf({ end, answer, why, asked }: Observation): string {
  const model = `model asked ${times(asked)}`;
  if (end === 'rejected') return `the run rejects (${why}), ${model}`;
  if (end === 'waiting') return `the run waits (${why}), ${model}`;
  return `the run ends with ${answer === '' ? 'no text' : `“${short(answer)}”`} (${why}), ${model}`;
}

export function times(count: number): string {
  if (count === 0) return 'never';
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`;
}

/** What the model was shown of a call, cut to fit a cell. */
export function shownOf({ shown }: Observation, tool: string): string {
  const text = shown[tool];
  return text === undefined ? `model shown nothing for \`${tool}\`` : `model shown for \`${tool}\`: “${short(text)}”`;
}

const LONGEST = 90;

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '/');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
