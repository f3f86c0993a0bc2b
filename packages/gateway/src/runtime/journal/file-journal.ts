import type { Entry, Staged, Stop } from '@lastcall/core';
import { writeFiles } from '../../domain/files/write-files.ts';
import type { KnownSecrets } from '../../telemetry/known-secrets.ts';
import { diffFiles, withDiffs } from '../files/file-diffs.ts';
import type { ThreadFiles } from '../files/thread-files.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { Write } from '../run/run-write.ts';
import type { StagedWrite } from '../tools/built-in-context.ts';

type ChangedFiles = NonNullable<Staged['files']>;

/**
 * What the journal of a run stores of files: those that a call changed, with the end of the call, and what a rewind would restore. The
 * store knows the latter, so that a worker that takes the run over can go back too.
 */
export class FileJournal {
  readonly #files: ThreadFiles;
  readonly #run: ActiveRun;
  /** True if the turn has a checkpoint, to which it may go back. */
  #isCheckpointed: boolean;

  constructor(files: ThreadFiles, run: ActiveRun) {
    this.#files = files;
    this.#run = run;
    this.#isCheckpointed = run.transcript.entries.findLast(startsTurn)?.kind === 'checkpoint';
  }

  /** The files that a call has changed and that are not stored yet. */
  unsavedOf({ files = [] }: Staged): ChangedFiles {
    return this.#files.unsavedOf(files);
  }

  /** The changes that people read, with the lines that differ. */
  async changesOf(staged: Staged, changed: ChangedFiles, secrets: KnownSecrets): Promise<Staged> {
    const { committed = [], discarded = [] } = staged.changes ?? {};
    const differing = await diffFiles(this.#files, changed, secrets);
    return { ...staged, changes: { committed: withDiffs(committed, differing), discarded } };
  }

  /** The write that stores them, in the transaction in which the call ends. */
  toWrite(callId: string, files: ChangedFiles): StagedWrite {
    const { lease, runId } = this.#run;
    const by = { callId, runId };
    return async (tx) => writeFiles(tx, { threadId: lease.threadId, by, canRewind: this.#isCheckpointed, files });
  }

  saved(changed: ChangedFiles): void {
    this.#files.saved(changed);
  }

  /** A checkpoint, and the last end of a turn, forget what a rewind would restore. A rewind restores it. */
  undoWrites(entries: readonly Entry[]): readonly Write[] {
    return entries.flatMap((entry): readonly Write[] => {
      if (startsTurn(entry)) this.#isCheckpointed = entry.kind === 'checkpoint';
      if (entry.kind === 'rewind') return [{ kind: 'files', act: 'undo' }];
      const isForgotten =
        entry.kind === 'checkpoint' || (entry.kind === 'stop' && this.#isCheckpointed && isFinal(entry.stop));
      return isForgotten ? [{ kind: 'files', act: 'forget-undo' }] : [];
    });
  }

  /** Called when the writes are stored. */
  undone(writes: readonly Write[]): void {
    if (writes.some((write) => write.kind === 'files' && write.act === 'undo')) this.#files.rewound();
  }
}

function startsTurn({ kind }: Entry): boolean {
  return kind === 'turn' || kind === 'checkpoint';
}

/** False if a later run may continue the turn, and go back to its checkpoint. */
function isFinal({ reason }: Stop): boolean {
  return reason !== 'suspended' && reason !== 'aborted' && reason !== 'error';
}
