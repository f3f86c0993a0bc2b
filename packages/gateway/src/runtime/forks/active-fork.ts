import type { Kysely } from 'kysely';
import { type Fork, findFork } from '../../domain/forks/fork.ts';
import {
  copiedWaits,
  type EndOfCall,
  ownEnds,
  type RecordedCall,
  recordedCalls,
} from '../../domain/forks/recorded-calls.ts';
import { afterCalls } from '../../domain/forks/simulated-situation.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';

/** What a run of a fork needs of it. */
export interface ActiveFork extends Fork {
  /** The calls of the original run from the fork's step on. */
  readonly recorded: readonly RecordedCall[];
  /** The calls that the fork itself had ended, or left waiting, when the run was claimed. */
  readonly ends: readonly EndOfCall[];
  /** The calls of a machine that waited at the step. */
  readonly waits: readonly EndOfCall[];
}

/** Undefined if the thread is no fork. */
export async function loadFork(
  db: Kysely<Tables>,
  { threadId, isFork }: { readonly threadId: string; readonly isFork: boolean },
): Promise<ActiveFork | undefined> {
  const fork = isFork ? await findFork(db, threadId) : undefined;
  if (fork === undefined) return undefined;
  const recorded = await recordedCalls(db, fork);
  return { ...fork, recorded, ends: await ownEnds(db, fork), waits: await copiedWaits(db, fork) };
}

/** The space in which the agent of the fork is, by its own account: nothing is shown there. */
export function spaceOfFork({ situation, ends }: ActiveFork): string | null {
  if (situation === undefined) return null;
  const settled = ends.map(({ settlement }) => settlement);
  return afterCalls(situation, settled).activeSpaceId ?? null;
}
