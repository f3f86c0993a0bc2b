import { createSeal } from '../../domain/keys/seal.ts';
import type { Services } from '../../ports/services.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { loadSituation } from '../claim/load-situation.ts';
import { addNestedUsage } from '../journal/add-nested-usage.ts';
import { CycleJournal } from '../journal/cycle-journal.ts';
import { Questions } from '../journal/questions.ts';
import { RequestNotes } from '../journal/request-notes.ts';
import { StagedWrites } from '../journal/staged-writes.ts';
import type { Cycle } from '../run/cycle.ts';
import { Frames } from '../run/frames.ts';
import { createOutputLimit, type OutputLimit } from '../tools/output-limit.ts';
import { forSettings, withClientTools } from '../toolset/client-tools.ts';
import type { CycleContext } from '../toolset/cycle-context.ts';
import { type CycleTools, cycleTools } from '../toolset/cycle-tools.ts';
import { withMcpTools } from '../toolset/mcp-cycle-tools.ts';
import type { WorkerRegistry } from '../toolset/registry.ts';
import { secretsOf } from '../toolset/remove-secrets.ts';
import { storeArtifact } from '../toolset/store-artifact.ts';
import { definitionOf } from '../toolset/tool-definition.ts';
import type { CycleAbort } from './cycle-abort.ts';

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
    store: services.store,
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
