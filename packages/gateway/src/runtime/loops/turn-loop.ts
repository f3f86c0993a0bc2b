import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  LastcallError,
  replay,
  runTurn,
  type Session,
  SliceVersionError,
  type ToolSet,
  Transcript,
  type TurnOptions,
} from '@lastcall/core';
import { loadTranscript, toRecord } from '../../domain/transcript/load-transcript.ts';
import { isOfMachine } from '../../domain/transcript/machine-rows.ts';
import { restoreSession } from '../../domain/transcript/restore-session.ts';
import type { RunActivity } from '../../telemetry/run-activity.ts';
import { withoutApproval } from '../forks/fork-tools.ts';
import { compactTranscript } from '../journal/compact-transcript.ts';
import { findApprovedCalls, findShownCalls, showStartedCalls } from '../journal/recover-calls.ts';
import { endingTools } from '../run/ending-tools.ts';
import { withoutEffects } from '../toolset/client-tools.ts';
import { newCallIds } from './calls-of-run.ts';
import { chooseMode, definedTurn, slicesOf, systemText, toolsInMode, withObserved } from './defined-turn.ts';
import { grantPolicy } from './grant-policy.ts';
import { ModelGuard } from './guard-model.ts';
import type { OpenedRun } from './open-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import { readyFor } from './ready-for.ts';
import { middlewareOf } from './run-middleware.ts';
import { sessionHost } from './session-host.ts';
import { tellRun } from './tell-run.ts';
import { voidChangedApprovals } from './void-changed-approvals.ts';

/** Prepares a run of one conversation: a turn of core on the agent's transcript. */
export async function prepareTurn(open: OpenedRun, activity: RunActivity): Promise<PreparedRun> {
  const { services, registry, run, abort, clock, tools, situation, requests, journal } = open;
  const { kind } = run;
  const { tag, limits } = run.agent;
  await journal.recover(await findApprovedCalls(services, run));
  if (run.isTakenOver && kind.hasSpaces) {
    await journal.recover(await findShownCalls(services, run));
    await showStartedCalls(run, { journal, named: tools.named });
  }
  const session = sessionOf(open);
  const mode = await chooseMode(open, session);
  const { instructions: operator, ...defined } = definedTurn(run, mode);
  const agent = { ...run.agent, config: { ...run.agent.config, instructions: operator.text } };
  const ending = endingTools(run.agent.config, tools.tools);
  const kindOptions = kind.turnOptions({ ...run, agent }, situation, ending);
  const { explanation, observe: ofThread, instructions: text, onPending, ...options } = kindOptions;
  const observe = withObserved(open, session, ofThread);
  const system = systemText(operator, text, (set) => forRun(open, set));
  const guard = new ModelGuard({ tag, instructions: system.current, explanation, sent: run.past.sent });
  const model = guard.wrap(
    await kind.modelOf(run, async (name) => open.spend.forTurnsInCalls(await registry.model(name))),
  );
  const deadline = clock.now() + limits.cycleTimeoutMs;
  await tools.ready?.(readyFor(open));
  const answers = await voidChangedApprovals(open);
  run.past.shownTo(model.provider);
  const summarising = open.spend.wrap(model, 'summary');
  const turn: TurnOptions = {
    ...options,
    ...defined,
    // A fork stops when it asks, also where the original went on.
    get onPending() {
      return open.forkTools?.isAsking === true ? 'suspend' : onPending;
    },
    // In a fork, only a person can let a call act outside.
    policies:
      run.fork === undefined
        ? [...(defined.policies ?? []), grantPolicy(open)]
        : (defined.policies ?? []).map(withoutApproval),
    instructions: system.instructions,
    ...(observe === undefined ? {} : { observe: requests.observing(guard.observing(observe)) }),
    model,
    transcript: run.transcript,
    answers,
    // The run has taken them out of the inbox: no later run gets them.
    unusedAnswers: 'end',
    tools: () => toolsInMode(tools.tools, mode, (set) => forRun(open, set)),
    session,
    onEvent: tellRun(open, activity),
    clock,
    deadline,
    budget: { tokens: limits.tokensPerCycle },
    signal: abort.signal,
    middleware: middlewareOf(open, model, mode?.middleware),
    journal,
    newId: newCallIds(run),
    logger: services.logger,
  };
  return {
    model,
    perform: () => runTurn(turn),
    compact: (nextSeq) =>
      compactTranscript(services, run, {
        transcript: run.transcript,
        nextSeq,
        session,
        model: summarising,
        signal: abort.signal,
      }),
    compactStored: () => compactStored(open, summarising),
    dispose: () => session.dispose(),
  };
}

/** Tools of the definition, as the run may use them. */
function forRun({ run: { settings }, forkTools }: OpenedRun, tools: ToolSet): ToolSet {
  // Some requests may have no effects, e.g. that of a page for the title of a conversation.
  const offered = settings?.isWithoutEffects === true ? withoutEffects(tools) : tools;
  return forkTools === undefined ? offered : forkTools.wrap(offered);
}

async function compactStored({ services, run, abort }: OpenedRun, model: LanguageModelV4): Promise<boolean> {
  const { threadId } = run.lease;
  const stored = await services.store.transaction((tx) => loadTranscript(tx.db, threadId));
  const { nextSeq } = stored;
  // The agent may have been a machine before.
  const records = stored.records.filter(({ entry }) => !isOfMachine(entry));
  const session = restoreSession({ state: run.state, records });
  const transcript = new Transcript(stored.entries.filter((entry) => !isOfMachine(entry)));
  return await compactTranscript(services, run, { transcript, nextSeq, session, model, signal: abort.signal });
}

/**
 * The session after the last run, including the ends of calls whose answers this run begins with. The slices of the definition are
 * registered, so that everything can read them.
 */
function sessionOf(open: OpenedRun): Session {
  const { agent } = open.run;
  const session = restored(open);
  session.register(...slicesOf(agent.setup.definition));
  return session;
}

/** A session that is damaged stays so: the agent waits until it is repaired, and nothing is written over it. */
function restored(open: OpenedRun): Session {
  const { past, state, written } = open.run;
  try {
    const session = past.session(state, sessionHost(open));
    replay(session, written.map(toRecord));
    return session;
  } catch (cause) {
    // An outdated slice has a sentence of its own, which says what to write.
    if (cause instanceof SliceVersionError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The agent's stored session cannot be read. ${why} It is kept as it is.`;
    throw new LastcallError('stored_session', message, { cause });
  }
}
