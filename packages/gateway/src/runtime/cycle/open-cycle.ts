import { createSeal } from '../../domain/keys/seal.ts';
import type { Services } from '../../ports/services.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { addNestedUsage } from './add-nested-usage.ts';
import { forSettings, withClientTools } from './client-tools.ts';
import type { Cycle } from './cycle.ts';
import type { CycleAbort } from './cycle-abort.ts';
import type { CycleContext } from './cycle-context.ts';
import { CycleJournal } from './cycle-journal.ts';
import { type CycleTools, cycleTools } from './cycle-tools.ts';
import { Frames } from './frames.ts';
import { loadSituation } from './load-situation.ts';
import { withMcpTools } from './mcp-cycle-tools.ts';
import { createOutputLimit, type OutputLimit } from './output-limit.ts';
import { Questions } from './questions.ts';
import type { WorkerRegistry } from './registry.ts';
import { secretsOf } from './remove-secrets.ts';
import { RequestNotes } from './request-notes.ts';
import { StagedWrites } from './staged-writes.ts';
import { storeArtifact } from './store-artifact.ts';
import { definitionOf } from './tool-definition.ts';

/** A cycle with everything that its turn needs. */
export interface OpenCycle {
  readonly services: Services;
  readonly registry: WorkerRegistry;
  readonly cycle: Cycle;
  readonly abort: CycleAbort;
  readonly tools: CycleTools;
  readonly outputs: OutputLimit;
  readonly frames: Frames;
  readonly requests: RequestNotes;
  readonly journal: CycleJournal;
  readonly context: CycleContext;
}

/** Creates the journal and the tools of a cycle. Throws if the agent's setup does not work. */
export function openCycle(given: Pick<OpenCycle, 'services' | 'registry' | 'cycle' | 'abort'>): OpenCycle {
  const { services, registry, cycle, abort } = given;
  const { agent, runId, kind, settings } = cycle;
  const stagedWrites = new StagedWrites();
  const own = cycleTools(registry, agent, kind.builtInTools(services.limits));
  const tools = forSettings(withMcpTools(withClientTools(own, settings), agent.config, registry), settings);
  const outputs = createOutputLimit(services.limits);
  const frames = new Frames(cycle);
  const requests = new RequestNotes();
  const read = storeReader(services, abort);
  const questions: Questions = new Questions({
    services,
    cycle,
    seal: async () => registry.seal ?? (await createSeal(services.store, undefined)),
    read,
    spaceOf: ({ toolCallId, toolName }) =>
      tools.named(toolName)?.isVisible === true ? journal.spaceOf(toolCallId) : null,
  });
  const journal: CycleJournal = new CycleJournal({
    questions,
    services,
    cycle,
    stagedWrites,
    outputs,
    requests,
    secrets: secretsOf(registry),
    toolNamed: tools.named,
    definitionOf: (name) => definitionOf(tools, name),
    isCancelled: abort.isCancelled,
    signal: abort.signal,
    async onStaged() {
      frames.showSituation(await read((db) => loadSituation(db, agent.id)));
    },
  });
  const context: CycleContext = {
    services,
    threadId: cycle.lease.threadId,
    kind,
    runId,
    agent,
    position: () => journal.position,
    read,
    stage: (ctx, write, changes) => stagedWrites.stage(ctx, write, changes),
    people: questions,
    storeArtifact({ isVisible, ...artifact }) {
      const spaceId = isVisible ? journal.position.activeSpaceId : null;
      return storeArtifact(services, cycle, { ...artifact, spaceId });
    },
    subAgents: {
      depthLimit: agent.limits.subAgentDepth,
      tag: agent.tag,
      addUsage: (usage) => addNestedUsage(services, cycle, usage),
    },
  };
  return { ...given, tools, outputs, frames, requests, journal, context };
}

/** Implements `BuiltInContext.read`. */
function storeReader({ store, limits }: Services, { signal, interrupt }: CycleAbort): CycleContext['read'] {
  return async (work) => {
    try {
      return await retryWhileUnavailable(() => work(store.db), { forMs: limits.leaseMs, signal });
    } catch (error) {
      if (error instanceof StoreUnavailable) interrupt(error);
      throw error;
    }
  };
}
