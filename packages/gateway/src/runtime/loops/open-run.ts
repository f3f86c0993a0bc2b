import type { Clock, Entry, Settlement, Stop } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';
import { describeContract, renderSituation, type Situation } from '../../domain/agents/describe-agent.ts';
import { afterCalls } from '../../domain/forks/simulated-situation.ts';
import { isToldBy, toldPlace } from '../../domain/inbox/inbox-place.ts';
import { createSeal } from '../../domain/keys/seal.ts';
import { newId } from '../../domain/new-id.ts';
import { addRunUsage } from '../../domain/runs/nested-usage.ts';
import { storeSubAgentTurn, toSteps } from '../../domain/runs/sub-agent-turn.ts';
import type { Services } from '../../ports/services.ts';
import { retryWhileUnavailable } from '../../ports/store/retry-while-unavailable.ts';
import { StoreUnavailable } from '../../ports/store/store-error.ts';
import { loadSituation } from '../claim/load-situation.ts';
import { ThreadFiles } from '../files/thread-files.ts';
import { ForkCalls } from '../forks/fork-calls.ts';
import { ForkTools } from '../forks/fork-tools.ts';
import { givenOutcomes } from '../forks/given-outcomes.ts';
import { isOverBudget } from '../journal/compact-transcript.ts';
import { Questions } from '../journal/questions.ts';
import { RequestNotes } from '../journal/request-notes.ts';
import { RunJournal } from '../journal/run-journal.ts';
import type { RunJournalOptions } from '../journal/run-journal-options.ts';
import { StagedWrites } from '../journal/staged-writes.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { usageOf } from '../run/decide-end.ts';
import { endingTools } from '../run/ending-tools.ts';
import type { HeldRun } from '../run/held-run.ts';
import { createRunClock } from '../run/run-clock.ts';
import { endingText, responseOf } from '../run/run-response.ts';
import type { RunTools } from '../run/run-tool.ts';
import { RunSpend } from '../spend/run-spend.ts';
import { textForPeople } from '../spend/spend-refusal.ts';
import { createOutputLimit, type OutputLimit } from '../tools/output-limit.ts';
import type { SubAgentRecord } from '../tools/sub-agent/sub-agent-tool.ts';
import { forSettings, withClientTools } from '../toolset/client-tools.ts';
import type { CurrentRun } from '../toolset/current-run.ts';
import { withMcpTools } from '../toolset/mcp-run-tools.ts';
import type { WorkerRegistry } from '../toolset/registry.ts';
import { secretsOf } from '../toolset/remove-secrets.ts';
import { ownTools } from '../toolset/run-tools.ts';
import { storeArtifact } from '../toolset/store-artifact.ts';
import { askedDefinition } from '../toolset/tool-definition.ts';
import { LeafTools } from './leaf-tools.ts';
import type { RunAbort } from './run-abort.ts';

/** A run with everything that its turn needs. */
export interface OpenedRun {
  readonly services: Services;
  readonly registry: WorkerRegistry;
  readonly run: ActiveRun;
  readonly abort: RunAbort;
  /** Deadlines are times of this clock. */
  readonly clock: Clock;
  readonly tools: RunTools;
  readonly outputs: OutputLimit;
  /** The agent's latest situation, as a frame. Empty if the newest inbox tells it already. */
  readonly situation: () => string;
  readonly requests: RequestNotes;
  readonly journal: RunJournal;
  /** What it asks of models. */
  readonly spend: RunSpend;
  /** The files of the agent's tools. Undefined if they have none that last. */
  readonly files: ThreadFiles | undefined;
  readonly context: CurrentRun;
  /** Set for a machine. */
  readonly leafTools: LeafTools | undefined;
  /** Set for a fork. */
  readonly forkTools: ForkTools | undefined;
  /** The calls that a machine has ended in this run. */
  readonly ended: Settlement[];
  /** What the journal asks when the run ends. A machine replaces it. */
  readonly end: { of: RunJournalOptions['endOf'] };
}

/** Creates the journal and the tools of a run. Throws if the agent's setup does not work. */
export function openRun(given: Pick<OpenedRun, 'services' | 'registry' | 'run' | 'abort'>): OpenedRun {
  const { services, registry, run, abort } = given;
  const { agent, runId, kind, settings } = run;
  const clock = createRunClock();
  const stagedWrites = new StagedWrites();
  const leafTools =
    agent.setup.definition?.machine === undefined ? undefined : new LeafTools({ setup: agent.setup, settings });
  const ofAgent = agent.setup.tools(() => {
    const own = ownTools(registry, agent.setup, kind.builtInTools(services.limits, agent.setup.config.builtIns));
    return forSettings(withMcpTools(withClientTools(own, settings), agent.config, registry), settings);
  });
  const ofRun = leafTools === undefined ? ofAgent : leafTools.addTo(ofAgent);
  const forkTools =
    run.fork === undefined ? undefined : new ForkTools(new ForkCalls(run.fork, run.answers, givenOutcomes(run)), ofRun);
  const tools = forkTools === undefined ? ofRun : forkTools.ofRun(ofRun);
  const end: OpenedRun['end'] = { of: (stop) => endOfTurn(run, stop) };
  const outputs = createOutputLimit(services.limits);
  const isToldPlaces = kind.tellsPlaces && leafTools === undefined;
  const place = isToldPlaces ? toldPlace(run.transcript.entries) : undefined;
  const toFrame = (of: Situation): string => (isToldBy(place, of) ? '' : renderSituation(of));
  const ended: Settlement[] = [];
  const simulated = simulatedSituation(run, ended);
  let situation = toFrame(run.situation);
  const requests = new RequestNotes(agent.setup);
  const read = storeReader(services, abort);
  const spend = new RunSpend({
    services,
    run,
    perPerson: registry.personLimits?.spend,
    metrics: registry.metrics,
    signal: abort.signal,
  });
  const files =
    agent.setup.definition?.files === true
      ? new ThreadFiles({ threadId: run.lease.threadId, limits: agent.limits, read })
      : undefined;
  const questions: Questions = new Questions({
    store: services.store,
    run,
    clock,
    seal: async () => registry.seal ?? (await createSeal(services.store, undefined)),
    read,
    spaceOf: ({ toolCallId, toolName }) =>
      tools.named(toolName)?.isVisible === true ? journal.spaceOf(toolCallId) : null,
    nodeOf: (callId) => journal.nodeOf(callId),
  });
  const journal: RunJournal = new RunJournal({
    questions,
    services,
    run,
    clock,
    stagedWrites,
    spend,
    outputs,
    requests,
    files,
    secrets: secretsOf(registry),
    toolNamed: tools.named,
    endOf: (stop) => ({ ...end.of(stop), held: heldBy(spend, run, stop) }),
    showsWait: leafTools && ((name) => leafTools.has(name) || tools.named(name)?.isVisible === true),
    definitionOf: (name) => askedDefinition(tools, name),
    endsRun: leafTools === undefined ? endsRun(agent.config, tools) : () => false,
    isCancelled: abort.isCancelled,
    cancel: abort.cancel,
    signal: abort.signal,
    async onStaged() {
      if (simulated !== undefined) return;
      situation = toFrame(await read((db) => loadSituation(db, agent.id)));
    },
  });
  const context: CurrentRun = {
    services,
    threadId: run.lease.threadId,
    kind,
    runId,
    agent,
    position: () => journal.position,
    nodeOf: (callId) => journal.nodeOf(callId),
    whyNotFinal: (callId) => (journal.isOfWorker(callId) ? OF_WORKER : contractOf(agent.config, tools)),
    read,
    // In a fork nothing is written to spaces, goals, memories and plans.
    stage: run.fork === undefined ? (ctx, write, changes) => stagedWrites.stage(ctx, write, changes) : () => {},
    ...(run.fork === undefined
      ? {}
      : {
          forked: {
            asOf: run.fork.asOf,
            originThreadId: run.fork.originThreadId,
            situation: () => simulated?.() ?? run.situation,
          },
        }),
    people: questions,
    storeArtifact({ isVisible, ...artifact }) {
      const spaceId = isVisible && run.fork === undefined ? journal.position.activeSpaceId : null;
      return storeArtifact(services, run, { ...artifact, spaceId });
    },
    subAgents: {
      hasModel: run.settings?.call === undefined,
      people: questions,
      depthLimit: agent.limits.subAgentDepth,
      record: (turn) => recordSubAgent(services, run, turn),
      counting: spend.middleware('sub-agent'),
      forTurnsInCalls: (model) => spend.forTurnsInCalls(model),
    },
  };
  return {
    ...given,
    clock,
    tools,
    outputs,
    situation: () => (simulated === undefined ? situation : toFrame(simulated())),
    requests,
    journal,
    spend,
    files,
    context,
    leafTools,
    forkTools,
    ended,
    end,
  };
}

/**
 * What the agent of a fork knows about itself, by its own calls. Undefined for all other runs, and for forks of conversations. `ofMachine`:
 * the calls that a machine has ended in this run, which are not in the transcript.
 */
function simulatedSituation(
  { fork, transcript }: ActiveRun,
  ofMachine: readonly Settlement[],
): (() => Situation) | undefined {
  if (fork?.situation === undefined) return undefined;
  const ends = fork.ends.map(({ settlement }) => settlement);
  const before = afterCalls(fork.situation, ends);
  const known = transcript.entries.length;
  const inTurn = (): readonly Settlement[] =>
    transcript.entries.slice(known).flatMap((entry) => (entry.kind === 'settled' ? [entry.settlement] : []));
  return () => afterCalls(before, [...inTurn(), ...ofMachine]);
}

const OF_WORKER = 'It does not end the run: the text that you end with goes to the instance that you work for.';

/** Undefined without a contract. */
function contractOf(config: AgentConfig, { tools }: Pick<RunTools, 'tools'>): string | undefined {
  const contract = describeContract(endingTools(config, tools));
  return contract === '' ? undefined : contract;
}

function endOfTurn(run: ActiveRun, stop: Stop): ReturnType<RunJournalOptions['endOf']> {
  const { entries } = run.transcript;
  return {
    usage: usageOf(entries.slice(run.earlierEntries)),
    ...saidAtEnd(run, entries, stop),
    isOverBudget: isOverBudget(run),
  };
}

/** What people in spaces may read of the end of a run: the output of the tool that ended it, or the text. */
export function saidAtEnd(
  { kind }: Pick<ActiveRun, 'kind'>,
  entries: readonly Entry[],
  stop: Stop,
): Pick<ReturnType<RunJournalOptions['endOf']>, 'response' | 'reply'> {
  if (!kind.hasSpaces) return {};
  const text = endingText(entries, stop);
  return { response: responseOf(entries, stop), reply: text === undefined ? undefined : { text, messageId: newId() } };
}

/** The events of a run that a limit of the day stopped wait. A client that waits for an answer gets it now. */
function heldBy({ refusal }: RunSpend, { kind }: ActiveRun, { reason }: Stop): HeldRun | undefined {
  if (reason !== 'budget' || refusal?.until === undefined || !kind.retriesFailedRuns) return undefined;
  const { until, scope, id } = refusal;
  return { until, text: textForPeople(refusal), personId: scope === 'person' ? id : undefined };
}

/** Under a contract, only its tools end the run. */
function endsRun(config: AgentConfig, { tools }: Pick<RunTools, 'tools'>): (settlement: Settlement) => boolean {
  if (config.terminating === undefined) return ({ terminal }) => terminal === true;
  const listed = new Set(endingTools(config, tools).listed);
  return ({ toolName }) => listed.has(toolName);
}

/** Implements `BuiltInContext.read`. */
function storeReader({ store, limits }: Services, { signal, interrupt }: RunAbort): CurrentRun['read'] {
  return async (work) => {
    try {
      return await retryWhileUnavailable(() => work(store.db), { forMs: limits.leaseMs, signal });
    } catch (error) {
      if (error instanceof StoreUnavailable) interrupt(error);
      throw error;
    }
  };
}

/**
 * Stores what a sub-agent did, and adds its usage to its run. If that fails, the sub-agent's answer is still used. What it said is not
 * stored for a run that is not saved.
 */
async function recordSubAgent(
  { store, logger }: Services,
  { lease, runId, settings }: ActiveRun,
  { callId, usage, entries }: SubAgentRecord,
): Promise<void> {
  try {
    await fenced(store, lease, async (tx) => {
      await addRunUsage(tx, runId, usage);
      if (settings?.save !== false) await storeSubAgentTurn(tx, runId, { callId, steps: toSteps(entries) });
    });
  } catch (error) {
    logger.warn(`The usage of a sub-agent of run ${runId} was not counted: ${usage.totalTokens} tokens.`, { error });
  }
}
