import type { Settlement } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { type Fork, findFork } from '../../domain/forks/fork.ts';
import { ownEnds, type RecordedCall, recordedCalls } from '../../domain/forks/recorded-calls.ts';
import { afterCalls } from '../../domain/forks/simulated-situation.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';

/** What a run of a fork needs of it. */
export interface ActiveFork extends Fork {
  /** The calls of the original run from the fork's step on. */
  readonly recorded: readonly RecordedCall[];
  /** The calls that the fork itself had ended, or left waiting, when the run was claimed. */
  readonly ends: readonly Settlement[];
}

/** Undefined if the thread is no fork. */
export async function loadFork(
  db: Kysely<Tables>,
  { threadId, isFork }: { readonly threadId: string; readonly isFork: boolean },
): Promise<ActiveFork | undefined> {
  const fork = isFork ? await findFork(db, threadId) : undefined;
  return fork && { ...fork, recorded: await recordedCalls(db, fork), ends: await ownEnds(db, fork) };
}

/** The space in which the agent of the fork is, by its own account: nothing is shown there. */
export function spaceOfFork({ situation, ends }: ActiveFork): string | null {
  return situation === undefined ? null : (afterCalls(situation, ends).activeSpaceId ?? null);
}
