import { isToolResult, type Middleware, ok } from '@lastcall/core';
import type { Services } from '../../ports/services.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { RunTools } from '../run/run-tool.ts';
import type { RunJournal } from './run-journal.ts';

/**
 * Shows a visible call as a message of the active space when it starts. The journal shows its end together with the
 * settlement.
 */
export function showCards(
  { logger }: Pick<Services, 'logger'>,
  { agent }: ActiveRun,
  { journal, tools }: { journal: RunJournal; tools: Pick<RunTools, 'named' | 'isAnyVisible'> },
): Middleware {
  const show: Middleware['call'] = async (next, { callId, toolName, input }) => {
    if (tools.named(toolName)?.isVisible !== true) return await next();
    const spaceId = journal.spaceOf(callId);
    if (spaceId !== null && (await journal.showCall({ spaceId, callId, toolName, input }))) return await next();
    logger.warn(
      `"${toolName}" is visible, but agent ${agent.id} has no active space: its call is not shown to anyone.`,
    );
    return addUnseenNote(await next());
  };
  return {
    name: 'cards',
    // Core copies the input of each call that a middleware wraps. The tools of a machine's nodes become known in its steps.
    get call() {
      return tools.isAnyVisible ? show : undefined;
    },
  } as Middleware;
}

const UNSEEN_NOTE = 'Not shown to anyone: you have no active space. Call enter_space first if people should see it.';

/** Adds a note for the model that nothing was shown. Only successful results need it. */
function addUnseenNote(result: unknown): unknown {
  if (!isToolResult(result)) return ok(result, UNSEEN_NOTE);
  return result.status === 'ok' ? ok(result.value, `${result.message}\n${UNSEEN_NOTE}`) : result;
}
