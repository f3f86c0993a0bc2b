import { AsyncLocalStorage } from 'node:async_hooks';
import { LastcallError } from '@lastcall/core';
import type { ThreadKind } from '../run/thread-kind.ts';
import type { SpaceToolContext } from '../tools/built-in-context.ts';
import type { StoredArtifact } from '../tools/image/store-artifact.ts';
import type { People } from '../tools/mcp/people.ts';
import type { SubAgentCycle } from '../tools/sub-agent/sub-agent-tool.ts';
import type { NewArtifact } from './store-artifact.ts';

/** What a tool call can use of the cycle that it runs in. */
export interface CycleContext extends SpaceToolContext {
  readonly threadId: string;
  readonly kind: ThreadKind;
  /** The people whom a call may ask. */
  readonly people: People;
  /** What sub-agents can use of the cycle. */
  readonly subAgents: SubAgentCycle;
  /** Stores what a call made. With `isVisible`, people in the active space may read it too. */
  storeArtifact(artifact: Omit<NewArtifact, 'spaceId'> & { readonly isVisible: boolean }): Promise<StoredArtifact>;
}

const contexts = new AsyncLocalStorage<CycleContext>();

/** Runs `work` in the cycle. Tools are made once for all cycles, so a call finds its own cycle by asynchronous context. */
export function runInCycle<T>(context: CycleContext, work: () => T): T {
  return contexts.run(context, work);
}

/** The cycle of the running call. Call it at the start of `execute`, before the asynchronous context can be lost. */
export function currentCycle(): CycleContext {
  const context = contexts.getStore();
  if (context === undefined) throw new LastcallError('no_cycle', 'This tool runs only in the cycle of an agent.');
  return context;
}
