import { LastcallError } from '@lastcall/core';
import type { ConfigProblem } from './config-problem.ts';

/**
 * A configuration that cannot work, refused before anything starts. It names the file, the path in it, and what to do.
 */
export class ConfigError extends LastcallError {
  override readonly name: string = 'ConfigError';
  /** The file's name, or `environment`. */
  readonly file: string;
  /** The path of the first problem, e.g. `agents[0].tools[1].name`. It is empty if the whole file is wrong. */
  readonly path: string;
  readonly problems: readonly ConfigProblem[];

  constructor(file: string, problems: readonly ConfigProblem[], options?: { cause?: unknown }) {
    super('config', messageOf(file, problems), options);
    this.file = file;
    this.path = problems[0]?.path ?? '';
    this.problems = problems;
  }
}

function messageOf(file: string, problems: readonly ConfigProblem[]): string {
  const lines = problems.map(({ path, message }) =>
    path === '' ? `${file} ${message}` : `${file}: ${path} ${message}`,
  );
  return lines.join('\n');
}
