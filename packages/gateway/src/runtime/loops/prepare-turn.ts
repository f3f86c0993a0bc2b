import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Middleware, replay, type Session, type TurnOptions } from '@lastcall/core';
import { newId } from '../../domain/new-id.ts';
import { toRecord } from '../../domain/transcript/load-transcript.ts';
import { countEvent, traceRun } from '../../telemetry/observe-run.ts';
import type { RunActivity } from '../../telemetry/run-activity.ts';
import { withoutTag } from '../../telemetry/without-tag.ts';
import { UNKEPT_FILES } from '../claim/unkept-files.ts';
import { findApprovedCalls, findShownCalls, showStartedCalls } from '../journal/recover-calls.ts';
import { showCards } from '../journal/show-cards.ts';
import { CallNotes } from '../middleware/call-notes.ts';
import { configuredMiddleware, type MiddlewareParts } from '../middleware/configured-middleware.ts';
import { toolMiddleware } from '../middleware/tool-middleware.ts';
import { removeSecrets, secretsOf, withoutSecrets } from '../toolset/remove-secrets.ts';
import { toolLabel } from '../toolset/tool-label.ts';
import { explainMissing } from './explain-missing.ts';
import { guardModel } from './guard-model.ts';
import type { OpenedRun } from './open-run.ts';
import { voidChangedApprovals } from './void-changed-approvals.ts';

/** The turn of a run, ready to run, and what the run needs afterwards. */
export interface PreparedTurn {
  readonly turn: TurnOptions;
  readonly model: LanguageModelV4;
  readonly session: Session;
}

export async function prepareTurn(open: OpenedRun, activity: RunActivity): Promise<PreparedTurn> {
  const { services, registry, run, abort, tools, frames, requests, journal } = open;
  const { kind } = run;
  const { tag, limits } = run.agent;
  await journal.recover(await findApprovedCalls(services, run));
  if (run.isTakenOver && kind.hasSpaces) {
    await journal.recover(await findShownCalls(services, run));
    await showStartedCalls(run, { journal, named: tools.named });
  }
  const session = sessionOf(open);
  const secrets = secretsOf(open.registry);
  const { framed, ...options } = kind.turnOptions(run, () => frames.situation);
  const model = await kind.modelOf(run, (name) => registry.model(name));
  const deadline = Date.now() + limits.cycleTimeoutMs;
  await tools.ready?.({
    // The server is asked again, because what was approved must still be what runs.
    isFresh: Object.keys(run.answers).length > 0,
    // The other half of the time is for the answer.
    withinMs: limits.cycleTimeoutMs / 2,
    signal: abort.signal,
  });
  const answers = await voidChangedApprovals(open);
  run.past.shownTo(model.provider);
  const { instructions } = options;
  const counted = { model: model.modelId, labelOf: toolLabel(tools, run.settings) };
  const isFrame = (text: string): boolean => text === framed || frames.has(text);
  const turn: TurnOptions = {
    ...options,
    ...(options.observe === undefined ? {} : { observe: requests.observing(options.observe) }),
    model: guardModel(model, { tag, instructions, isFrame, past: run.past }),
    transcript: run.transcript,
    answers,
    tools: () => tools.tools,
    session,
    onEvent(event) {
      const told = withoutSecrets(event, secrets);
      journal.onEvent(told);
      activity.onEvent(told);
      if (registry.metrics !== undefined) countEvent(registry.metrics, event, counted);
    },
    deadline,
    budget: { tokens: limits.tokensPerCycle },
    signal: abort.signal,
    middleware: middlewareOf(open, model),
    journal,
    newId,
    logger: withoutTag(services.logger, tag),
  };
  return { turn, model, session };
}

/** The session after the last run, including the ends of calls whose answers this run begins with. */
function sessionOf({ services, run: { past, state, written, agent } }: OpenedRun): Session {
  const session = past.session(state, {
    logger: withoutTag(services.logger, agent.tag),
    filesystem: UNKEPT_FILES,
  });
  replay(session, written.map(toRecord));
  return session;
}

function middlewareOf(open: OpenedRun, { modelId }: LanguageModelV4): Middleware[] {
  const { services, run, tools, outputs, requests, journal } = open;
  const { config } = run.agent;
  const parts = middlewareParts(open);
  const ofTools = [...tools.middleware].map(([name, own]) => [name, configuredMiddleware(own, parts)] as const);
  return [
    outputs.middleware,
    ...traceRun(modelId),
    ...(run.kind.hasSpaces && tools.isAnyVisible ? [showCards(services, run, { journal, named: tools.named })] : []),
    parts.notes.middleware,
    ...configuredMiddleware(config.middleware ?? [], parts),
    ...toolMiddleware(new Map(ofTools)),
    requests.middleware,
    ...explainMissing(tools),
    // This middleware is innermost, so that no other one sees the result before secrets are removed.
    removeSecrets(secretsOf(open.registry)),
  ];
}

function middlewareParts(open: OpenedRun): MiddlewareParts {
  const { services, registry, run, abort, tools } = open;
  const { id: agentId, config, tag } = run.agent;
  const { isWithoutEffects, versionOf } = tools;
  const notes = new CallNotes();
  const onHit = (callId: string, cache: { storedAt: number }): void => notes.add(callId, { cache });
  return {
    agentId,
    runId: run.runId,
    logger: withoutTag(services.logger, tag),
    notes,
    secrets: secretsOf(open.registry),
    signal: abort.signal,
    model: (name) => registry.model(name ?? config.model),
    cache: (settings) => registry.toolCaches.middleware({ ...settings, agentId, isWithoutEffects, versionOf, onHit }),
  };
}
