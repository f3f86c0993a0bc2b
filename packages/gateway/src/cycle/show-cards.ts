import { isToolResult, type Middleware, ok } from '@lastcall/core';
import type { Services } from '../services.ts';
import { openCard } from '../spaces/tool-card.ts';
import type { Cycle } from './cycle.ts';
import type { CycleJournal } from './cycle-journal.ts';
import type { CycleTool } from './cycle-tools.ts';
import type { LiveCalls } from './live-calls.ts';

/** A visible call is a message of the active space from its start on. Its end is shown by the journal, with the settlement. */
export function showCards(
  services: Services,
  cycle: Cycle,
  { journal, live, named }: { journal: CycleJournal; live: LiveCalls; named: (name: string) => CycleTool | undefined },
): Middleware {
  return {
    name: 'cards',
    async call(next, { callId, toolName, input }) {
      if (named(toolName)?.isVisible !== true) return await next();
      const spaceId = live.spaceOf(callId) ?? cycle.activeSpaceId;
      if (spaceId === null) {
        services.logger.warn(
          `"${toolName}" is visible, and agent ${cycle.agent.id} is in no space: its call is shown to nobody.`,
        );
        return unseen(await next());
      }
      live.showStart(callId, toolName, spaceId);
      const { runId, agent } = cycle;
      if (!cycle.cards.has(callId))
        await journal.perform(async (tx) => {
          await openCard(services, tx, {
            spaceId,
            entityId: agent.entityId,
            runId,
            callId,
            toolName,
            input,
            status: 'running',
          });
          tx.afterCommit(() => cycle.cards.add(callId));
        });
      return await next();
    },
  };
}

const UNSEEN = 'Nobody saw this: you are in no space. Enter one with enter_space first, if somebody should.';

/** The model learns that nothing was shown. Other results than a success say enough. */
function unseen(result: unknown): unknown {
  if (!isToolResult(result)) return ok(result, UNSEEN);
  return result.status === 'ok' ? ok(result.value, `${result.message}\n${UNSEEN}`) : result;
}
