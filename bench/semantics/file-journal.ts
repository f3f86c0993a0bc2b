import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, type Journal, Transcript } from '@lastcall/core';

/** A journal in a file, one entry per line, and the transcript of such a file. */
export function fileJournal(directory: string): { journal: Journal; transcript: Transcript | undefined } {
  const file = join(directory, 'journal.jsonl');
  const write = (entries: readonly Entry[]): void =>
    appendFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  return {
    journal: { append: write, settle: (entry) => write([entry]) },
    transcript: entries.length === 0 ? undefined : Transcript.fromJSON({ version: 1, entries }),
  };
}
