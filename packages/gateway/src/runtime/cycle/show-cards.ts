import { isToolResult, type Middleware, ok } from '@lastcall/core';
import { type NewCard, openCardIfMember } from '../../domain/spaces/tool-card.ts';
import type { Services } from '../../ports/services.ts';
import type { Cycle } from './cycle.ts';
import type { CycleJournal } from './cycle-journal.ts';
import type { CycleTool } from './cycle-tools.ts';
import type { LiveCalls } from './live-calls.ts';
import { rawInput } from './raw-input.ts';

/**
 * Shows a visible call as a message of the active space when it starts. The journal shows its end together with the
 * settlement.
 */
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
      if (spaceId !== null && (await show({ spaceId, callId, toolName, input }))) return await next();
      services.logger.warn(
        `"${toolName}" is visible, and agent ${cycle.agent.id} is in no space: its call is shown to nobody.`,
      );
      return addUnseenNote(await next());
    },
  };

  /** Returns false if the agent was removed from the space meanwhile. It then has no active space. */
  async function show(call: Pick<NewCard, 'spaceId' | 'callId' | 'toolName' | 'input'>): Promise<boolean> {
    const { spaceId, callId, toolName } = call;
    live.showStart(callId, toolName, spaceId);
    if (cycle.cards.has(callId)) return true;
    const { runId, agent } = cycle;
    let isShown = false;
    // Added before the card exists: if the call is ended meanwhile, its end must be shown on the card and nowhere else.
    cycle.cards.add(callId);
    await journal.transaction(async (tx) => {
      const card = { ...call, entityId: agent.entityId, runId, status: 'running' } as const;
      isShown = (await openCardIfMember(services, tx, card)) !== undefined;
      // Shown only with the card: a space that the agent was removed from must not learn what it wrote.
      if (isShown) live.showInput(callId, rawInput(cycle.transcript, callId), tx);
    });
    if (isShown) return true;
    cycle.cards.delete(callId);
    live.cancel(callId, 'The agent is no longer in the space.');
    if (cycle.activeSpaceId === spaceId) cycle.activeSpaceId = null;
    return false;
  }
}

const UNSEEN_NOTE = 'Nobody saw this: you are in no space. Enter one with enter_space first, if somebody should.';

/** Tells the model that nothing was shown. Results other than a success need no note. */
function addUnseenNote(result: unknown): unknown {
  if (!isToolResult(result)) return ok(result, UNSEEN_NOTE);
  return result.status === 'ok' ? ok(result.value, `${result.message}\n${UNSEEN_NOTE}`) : result;
}
