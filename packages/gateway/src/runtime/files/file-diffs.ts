import type { Change } from '@lastcall/core';
import type { ChangedFile } from '@lastcall/core/files';
import { MAX_COMPARED_BYTES, textDiff } from '../../domain/files/text-diff.ts';
import type { KnownSecrets } from '../../telemetry/known-secrets.ts';
import type { ThreadFiles } from './thread-files.ts';

/** More than a person reads about one call. */
const MAX_FILES = 10;
const MAX_CHARACTERS = 2_000;

/**
 * How the texts of files changed, by path, without secrets. Large files are left out. It has to be asked before the files are stored,
 * because the store has only the newest version of each.
 */
export async function diffFiles(
  files: ThreadFiles,
  changed: readonly ChangedFile[],
  secrets: KnownSecrets,
): Promise<ReadonlyMap<string, string>> {
  const shown = changed.slice(0, MAX_FILES).filter(({ text = '' }) => text.length <= MAX_COMPARED_BYTES);
  const stored = await files.storedTexts(
    shown.map(({ path }) => path),
    MAX_COMPARED_BYTES,
  );
  // Secrets are removed before the lines are compared: one of several lines would not be recognised afterwards.
  const safe = (text: string): string => secrets.removeFrom(text);
  return new Map(
    shown.flatMap(({ path, text = '' }) => {
      const before = stored.has(path) ? stored.get(path) : '';
      if (before === undefined) return [];
      return [[path, textDiff(safe(before), safe(text), { maxCharacters: MAX_CHARACTERS })]];
    }),
  );
}

/** The changes of a call, with the differences of its files. */
export function withDiffs(changes: readonly Change[], diffs: ReadonlyMap<string, string>): readonly Change[] {
  return changes.map((change) => {
    const diff = change.kind === 'file' ? diffs.get(change.name) : undefined;
    return diff === undefined || diff === '' ? change : { ...change, diff };
  });
}
