import { describeError, errorText } from '../results/describe-error.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ToolInvoked } from '../session/tool-invoked.ts';
import { endEvent } from './call-events.ts';
import type { CallRun } from './call-run.ts';
import type { Executed } from './execute-tool.ts';
import { errorOutcome } from './refusal.ts';

/** What is known of a call besides how it ended. */
export interface Ending extends Executed {
  readonly input: unknown;
  readonly terminal: boolean;
}

/** Commits or discards what the call did, then tells of its end: once, whatever the end. */
export async function settleCall(run: CallRun, ending: Ending): Promise<Settlement> {
  const succeeded = ending.outcome.status === 'ok' || ending.outcome.status === 'pending';
  const settlement = succeeded ? await commit(run, ending) : await discard(run, ending, ending.outcome);
  run.emit(endEvent(settlement));
  if (settlement.outcome.status !== 'pending') run.session.tell(toEvent(settlement));
  // Whatever was made of it on the way (a middleware may have caught it), what could not be put back is the host's to know.
  run.session.assertUnpoisoned();
  if (ending.signal !== undefined) throw ending.signal;
  return settlement;
}

async function commit(run: CallRun, ending: Ending): Promise<Settlement> {
  const settlement = toSettlement(run, ending, ending.outcome);
  try {
    if (ending.outcome.status === 'ok') reduceEnd(run.session, ending.draft, settlement);
    const committing = ending.draft?.commit();
    if (committing !== undefined) await committing;
    return settlement;
  } catch (error) {
    // A reducer that refuses the call's end, or a parent call that ended meanwhile: the call has not happened.
    const text = `"${run.toolName}" could not be committed: ${errorText(error)}`;
    return await discard(run, ending, errorOutcome('execution', describeError(error).message, text));
  }
}

async function discard(run: CallRun, ending: Ending, outcome: Outcome): Promise<Settlement> {
  const settlement = toSettlement(run, ending, outcome);
  try {
    const discarding = ending.draft?.discard({ hurry: ending.leftBehind ?? false });
    if (discarding !== undefined) await discarding;
  } catch {
    // The session is poisoned and says so, once the call has been told of.
  }
  run.session.logEnd(toEvent(settlement));
  return settlement;
}

/** The end of a call that wrote is part of what it commits; one that only read has nothing to commit it with. */
function reduceEnd(session: SessionLayer, draft: SessionLayer | undefined, settlement: Settlement): void {
  (draft === undefined || draft.isReadOnly ? session : draft).reduceEnd(toEvent(settlement));
}

function toSettlement(run: CallRun, ending: Ending, outcome: Outcome): Settlement {
  return {
    callId: run.callId,
    toolName: run.toolName,
    input: ending.input,
    outcome,
    ...(ending.terminal ? { terminal: true as const } : {}),
    startedAt: run.startedAt,
    endedAt: run.clock.now(),
  };
}

function toEvent(settlement: Settlement): ToolInvoked {
  return { type: 'ToolInvoked', ...settlement };
}
