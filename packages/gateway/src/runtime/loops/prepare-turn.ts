import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Middleware, replay, type Session, type TurnOptions } from '@lastcall/core';
import { type Filesystem, FilesystemError, memoryFilesystem } from '@lastcall/core/files';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import { newId } from '../../domain/new-id.ts';
import { toRecord } from '../../domain/transcript/load-transcript.ts';
import { countEvent, traceRun } from '../../telemetry/observe-run.ts';
import type { RunActivity } from '../../telemetry/run-activity.ts';
import { findApprovedCalls, findShownCalls, showStartedCalls } from '../journal/recover-calls.ts';
import { showCards } from '../journal/show-cards.ts';
import { CallNotes } from '../middleware/call-notes.ts';
import { configuredMiddleware, type MiddlewareParts } from '../middleware/configured-middleware.ts';
import { toolMiddleware } from '../middleware/tool-middleware.ts';
import type { RunTools } from '../run/run-tool.ts';
import { removeSecrets, secretsOf, withoutSecrets } from '../toolset/remove-secrets.ts';
import { chooseMode, definedTurn, slicesOf, systemText, toolsInMode } from './defined-turn.ts';
import { ModelGuard } from './guard-model.ts';
import type { OpenedRun } from './open-run.ts';
import { voidChangedApprovals } from './void-changed-approvals.ts';

/** The turn of a run, ready to run, and what the run needs afterwards. */
export interface PreparedTurn {
  readonly turn: TurnOptions;
  /** The only way to the model: see `ModelGuard`. */
  readonly model: LanguageModelV4;
  readonly session: Session;
}

export async function prepareTurn(open: OpenedRun, activity: RunActivity): Promise<PreparedTurn> {
  const { services, registry, run, abort, tools, situation, requests, journal } = open;
  const { kind } = run;
  const { tag, limits } = run.agent;
  await journal.recover(await findApprovedCalls(services, run));
  if (run.isTakenOver && kind.hasSpaces) {
    await journal.recover(await findShownCalls(services, run));
    await showStartedCalls(run, { journal, named: tools.named });
  }
  const session = sessionOf(open);
  const secrets = secretsOf(open.registry);
  const mode = await chooseMode(open, session);
  const { instructions: operator, ...defined } = definedTurn(run, mode);
  const agent = { ...run.agent, config: { ...run.agent.config, instructions: operator.text } };
  const { explanation, observe, instructions: text, ...options } = kind.turnOptions({ ...run, agent }, situation);
  const system = systemText(operator, text, run.settings);
  const guard = new ModelGuard({ tag, instructions: system.current, explanation, sent: run.past.sent });
  const model = guard.wrap(await kind.modelOf(run, (name) => registry.model(name)));
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
  const counted = { model: model.modelId, labelOf: toolLabel(tools, run.settings) };
  const turn: TurnOptions = {
    ...options,
    ...defined,
    instructions: system.instructions,
    ...(observe === undefined ? {} : { observe: requests.observing(guard.observing(observe)) }),
    model,
    transcript: run.transcript,
    answers,
    tools: () => toolsInMode(tools.tools, mode),
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
    middleware: [...middlewareOf(open, model), ...(mode?.middleware ?? [])],
    journal,
    newId,
    logger: services.logger,
  };
  return { turn, model, session };
}

/**
 * The session after the last run, including the ends of calls whose answers this run begins with. The slices of the definition are
 * registered, so that everything can read them.
 */
function sessionOf({ services, registry, files, run: { past, state, written, agent } }: OpenedRun): Session {
  const session = past.session(state, {
    logger: services.logger,
    ...(registry.shared === undefined ? {} : { shared: registry.shared }),
    resources: agent.setup.definition?.resources ?? [],
    ...(files === undefined ? { otherwiseFilesystem: UNKEPT_FILES } : { filesystem: files }),
  });
  replay(session, written.map(toRecord));
  session.register(...slicesOf(agent.setup.definition));
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
  const { id: agentId, config } = run.agent;
  const { isWithoutEffects, versionOf } = tools;
  const notes = new CallNotes();
  const onHit = (callId: string, cache: { storedAt: number }): void => notes.add(callId, { cache });
  return {
    agentId,
    runId: run.runId,
    logger: services.logger,
    notes,
    secrets: secretsOf(open.registry),
    signal: abort.signal,
    model: (name) => registry.model(name ?? config.model),
    cache: (settings) => registry.toolCaches.middleware({ ...settings, agentId, isWithoutEffects, versionOf, onHit }),
  };
}

/**
 * The file system of tools whose agent has no files: it is empty and read-only. A file that a tool wrote would be lost with the
 * run, without any error.
 */
const UNKEPT_FILES: Filesystem = {
  ...memoryFilesystem(),
  writeText: (path) => refuse(path),
  delete: (path) => refuse(path),
};

async function refuse(path: string): Promise<never> {
  throw new FilesystemError(
    'not_kept',
    path,
    'files that the tools of this agent write are not kept. Give its definition files: true, keep state in a slice of the session, or use a resource with the key "filesystem".',
  );
}

/** The error code for a call of a tool whose MCP server is not available. */
const SERVER_UNAVAILABLE = 'server_unavailable';

/** Tells the model that a server is down, instead of that there is no such tool. */
function explainMissing({ whyMissing }: RunTools): readonly Middleware[] {
  if (whyMissing === undefined) return [];
  return [
    {
      name: 'explain-missing',
      outcome(outcome, { toolName }) {
        if (outcome.status !== 'error' || outcome.code !== 'unknown_tool') return outcome;
        const message = whyMissing(toolName);
        return message === undefined ? outcome : { ...outcome, code: SERVER_UNAVAILABLE, message, text: message };
      },
    },
  ];
}

/**
 * The label under which metrics count a call: the tool's name, or a fixed word if a caller or a model chose the name.
 */
type ToolLabel = (toolName: string) => string;

function toolLabel(offered: Pick<RunTools, 'tools'>, settings: TurnSettings | undefined): ToolLabel {
  const ofCaller = new Set((settings?.clientTools ?? []).map(({ name }) => name));
  return (toolName) => {
    if (ofCaller.has(toolName)) return 'caller';
    return Object.hasOwn(offered.tools, toolName) ? toolName : 'unknown';
  };
}
