import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EvalReport, EvalSample } from '@lastcall/core/eval';

/**
 * The results of one evaluation, in files:
 *
 * - `<name>.json` is the last report.
 * - `<name>.part.jsonl` has the samples of an evaluation that has not ended: a line that says which cases it has, and a line for each sample,
 *   written when the sample is done. It is deleted when the report is written, and sent if it is to be.
 *
 * 1. A sample that was done before Ctrl+C or a crash is not run again.
 * 2. If cases or scores have other names or inputs than before, nothing is continued: the first line tells.
 * 3. A line that was cut off by a crash is left out, and its sample is run again.
 */
export class KeptResults {
  readonly path: string;
  readonly #part: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string, name: string) {
    const file = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100) || 'evaluation';
    this.path = join(folder, `${file}.json`);
    this.#part = join(folder, `${file}.part.jsonl`);
  }

  /** The samples of an interrupted evaluation of the same cases. */
  async begin(identity: unknown, { isFresh }: { readonly isFresh: boolean }): Promise<readonly EvalSample[]> {
    await mkdir(dirname(this.path), { recursive: true });
    const header = { evaluation: createHash('sha256').update(JSON.stringify(identity)).digest('hex') };
    const [first, ...samples] = isFresh ? [] : await readLines(this.#part);
    if ((first as typeof header | undefined)?.evaluation === header.evaluation) return samples as EvalSample[];
    await writeFile(this.#part, JSON.stringify(header));
    return [];
  }

  /**
   * Lines of parallel cases are written one after the other. Each begins with its line break: a line that a crash has cut off would otherwise
   * spoil the next one.
   */
  async add(sample: EvalSample): Promise<void> {
    this.#writing = this.#writing.then(() => appendFile(this.#part, `\n${JSON.stringify(sample)}`));
    await this.#writing;
  }

  async write(report: EvalReport): Promise<void> {
    await writeFile(`${this.path}.new`, `${JSON.stringify(report, undefined, 2)}\n`);
    await rename(`${this.path}.new`, this.path);
  }

  /** The next evaluation starts again. */
  async forget(): Promise<void> {
    await rm(this.#part, { force: true });
  }
}

async function readLines(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}
