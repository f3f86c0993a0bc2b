import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Middleware } from '@lastcall/core';
import { traceCalls } from '../../telemetry/trace-calls.ts';
import { showCards } from '../journal/show-cards.ts';
import { CallNotes } from '../middleware/call-notes.ts';
import { configuredMiddleware, type MiddlewareParts } from '../middleware/configured-middleware.ts';
import { toolMiddleware } from '../middleware/tool-middleware.ts';
import type { RunTools } from '../run/run-tool.ts';
import { removeSecrets, secretsOf } from '../toolset/remove-secrets.ts';
import type { OpenedRun } from './open-run.ts';

/** The middleware of a run, outermost first. `ofMode`: that of the plugins of the run's mode. */
export function middlewareOf(
  open: OpenedRun,
  model: LanguageModelV4,
  ofMode: readonly Middleware[] = [],
): Middleware[] {
  const { services, registry, run, tools, outputs, requests, journal, spend } = open;
  const { config } = run.agent;
  const parts = middlewareParts(open);
  const ofTools = [...tools.middleware].map(([name, own]) => [name, configuredMiddleware(own, parts)] as const);
  return [
    ...(open.forkTools === undefined ? [] : [open.forkTools.middleware]),
    outputs.middleware,
    ...traceCalls(registry),
    ...(run.kind.hasSpaces && (tools.isAnyVisible || tools.ofNodes === true)
      ? [showCards(services, run, { journal, tools })]
      : []),
    parts.notes.middleware,
    ...configuredMiddleware(config.middleware ?? [], parts),
    ...toolMiddleware(new Map(ofTools)),
    ...ofMode,
    // Inside of all others, because they may ask the model several times, or not at all.
    spend.middleware(run.fork === undefined ? (open.leafTools === undefined ? 'turn' : 'machine') : 'fork'),
    // The instances of a machine note theirs themselves.
    ...(open.leafTools === undefined ? [requests.noting(model)] : []),
    ...explainMissing(tools),
    // This middleware is innermost, so that no other one sees the result before secrets are removed.
    removeSecrets(secretsOf(open.registry)),
  ];
}

function middlewareParts(open: OpenedRun): MiddlewareParts {
  const { services, registry, run, abort, tools, spend } = open;
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
    model: async (name) => spend.wrap(await registry.model(name ?? config.model), 'repair'),
    // A fork neither uses what other runs got, nor leaves them what it was given.
    cache: (settings) =>
      run.fork !== undefined
        ? { name: 'cache' }
        : registry.toolCaches.middleware({ ...settings, agentId, isWithoutEffects, versionOf, onHit }),
  };
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
