import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Middleware, replay, type Session, type TurnOptions } from '@lastcall/core';
import { newId } from '../../domain/new-id.ts';
import { toRecord } from '../../domain/transcript/load-consciousness.ts';
import type { CycleActivity } from '../../telemetry/cycle-activity.ts';
import { countEvent, traceCycle } from '../../telemetry/observe-cycle.ts';
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
import type { OpenCycle } from './open-cycle.ts';
import { voidChangedApprovals } from './void-changed-approvals.ts';

/** The turn of a cycle, ready to run, and what the cycle needs afterwards. */
export interface PreparedTurn {
  readonly turn: TurnOptions;
  readonly model: LanguageModelV4;
  readonly session: Session;
}

export async function prepareTurn(open: OpenCycle, activity: CycleActivity): Promise<PreparedTurn> {
  const { services, registry, cycle, abort, tools, frames, requests, journal } = open;
  const { kind } = cycle;
  const { tag, limits } = cycle.agent;
  await journal.recover(await findApprovedCalls(services, cycle));
  if (cycle.isTakenOver && kind.hasSpaces) {
    await journal.recover(await findShownCalls(services, cycle));
    await showStartedCalls(cycle, { journal, named: tools.named });
  }
  const session = sessionOf(open);
  const secrets = secretsOf(open.registry);
  const { framed, ...options } = kind.turnOptions(cycle, () => frames.situation);
  const model = await kind.modelOf(cycle, (name) => registry.model(name));
  const deadline = Date.now() + limits.cycleTimeoutMs;
  await tools.ready?.({
    // The server is asked again, because what was approved must still be what runs.
    isFresh: Object.keys(cycle.answers).length > 0,
    // The other half of the time is for the answer.
    withinMs: limits.cycleTimeoutMs / 2,
    signal: abort.signal,
  });
  const answers = await voidChangedApprovals(open);
  cycle.history.shownTo(model.provider);
  const { instructions } = options;
  const counted = { model: model.modelId, labelOf: toolLabel(tools, cycle.settings) };
  const isFrame = (text: string): boolean => text === framed || frames.has(text);
  const turn: TurnOptions = {
    ...options,
    ...(options.observe === undefined ? {} : { observe: requests.observing(options.observe) }),
    model: guardModel(model, { tag, instructions, isFrame, history: cycle.history }),
    transcript: cycle.transcript,
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

/** The session after the last cycle, including the ends of calls whose answers this cycle begins with. */
function sessionOf({ services, cycle: { history, state, written, agent } }: OpenCycle): Session {
  const session = history.session(state, {
    logger: withoutTag(services.logger, agent.tag),
    filesystem: UNKEPT_FILES,
  });
  replay(session, written.map(toRecord));
  return session;
}

function middlewareOf(open: OpenCycle, { modelId }: LanguageModelV4): Middleware[] {
  const { services, cycle, tools, outputs, requests, journal } = open;
  const { config } = cycle.agent;
  const parts = middlewareParts(open);
  const ofTools = [...tools.middleware].map(([name, own]) => [name, configuredMiddleware(own, parts)] as const);
  return [
    outputs.middleware,
    ...traceCycle(modelId),
    ...(cycle.kind.hasSpaces && tools.isAnyVisible
      ? [showCards(services, cycle, { journal, named: tools.named })]
      : []),
    parts.notes.middleware,
    ...configuredMiddleware(config.middleware ?? [], parts),
    ...toolMiddleware(new Map(ofTools)),
    requests.middleware,
    ...explainMissing(tools),
    // This middleware is innermost, so that no other one sees the result before secrets are removed.
    removeSecrets(secretsOf(open.registry)),
  ];
}

function middlewareParts(open: OpenCycle): MiddlewareParts {
  const { services, registry, cycle, abort, tools } = open;
  const { id: agentId, config, tag } = cycle.agent;
  const { isWithoutEffects, versionOf } = tools;
  const notes = new CallNotes();
  const onHit = (callId: string, cache: { storedAt: number }): void => notes.add(callId, { cache });
  return {
    agentId,
    runId: cycle.runId,
    logger: withoutTag(services.logger, tag),
    notes,
    secrets: secretsOf(open.registry),
    signal: abort.signal,
    model: (name) => registry.model(name ?? config.model),
    cache: (settings) => registry.toolCaches.middleware({ ...settings, agentId, isWithoutEffects, versionOf, onHit }),
  };
}
