import { AsyncLocalStorage } from 'node:async_hooks';
import { LastcallError } from '@lastcall/core';
import type { ThreadKind } from '../run/thread-kind.ts';
import type { SpaceToolContext } from '../tools/built-in-context.ts';
import type { StoredArtifact } from '../tools/image/store-artifact.ts';
import type { People } from '../tools/mcp/people.ts';
import type { SubAgentRun } from '../tools/sub-agent/sub-agent-tool.ts';
import type { NewArtifact } from './store-artifact.ts';

/** What a tool call can use of the run that it belongs to. */
export interface CurrentRun extends SpaceToolContext {
  readonly threadId: string;
  readonly kind: ThreadKind;
  /** The people whom a call may ask. */
  readonly people: People;
  /** What sub-agents can use of the run. */
  readonly subAgents: SubAgentRun;
  /** Stores what a call made. With `isVisible`, people in the active space may read it too. */
  storeArtifact(artifact: Omit<NewArtifact, 'spaceId'> & { readonly isVisible: boolean }): Promise<StoredArtifact>;
}

const runs = new AsyncLocalStorage<CurrentRun>();

/** Calls `work` as part of the run. Tools are made once for all runs, so a call finds its own run by asynchronous context. */
export function withCurrentRun<T>(run: CurrentRun, work: () => T): T {
  return runs.run(run, work);
}

/** The run that the current call belongs to. Call it at the start of `execute`, before the asynchronous context can be lost. */
export function currentRun(): CurrentRun {
  const run = runs.getStore();
  if (run === undefined) throw new LastcallError('no_run', 'This tool works only in a run of an agent.');
  return run;
}
