import type { Outcome, Settlement } from '../results/outcome.ts';
import type { PlannedCall } from './batch-plan.ts';
import type { Ended } from './ending.ts';

export interface BatchRules {
  readonly onError: 'continue' | 'cancel-rest';
  readonly afterTerminal: 'skip' | 'run';
}

/**
 * Why a call must not start, given the calls settled before it in its batch; undefined if it may. The call then settles
 * with this outcome.
 */
export function refusalOf(call: PlannedCall, before: readonly Ended[], rules: BatchRules): Outcome | undefined {
  if (before.length === 0) return undefined;
  const rewound = before.find(({ role, settlement }) => role === 'rewind' && settlement.outcome.status === 'ok');
  if (rewound !== undefined) return cancelled(`the turn was rewound by call ${rewound.settlement.callId}`);
  const failed = rules.onError === 'cancel-rest' ? before.find(({ settlement }) => isFailure(settlement)) : undefined;
  if (failed !== undefined)
    return cancelled(
      `"${failed.settlement.toolName}" (call ${failed.settlement.callId}) ${reasonOf(failed.settlement)}`,
    );
  return afterTransition(call, before) ?? afterResponse(call, before, rules);
}

/** The first transition counts, and nothing may undo it: a rewind after it would not be performed. */
function afterTransition(call: PlannedCall, before: readonly Ended[]): Outcome | undefined {
  if (call.role !== 'transition' && call.role !== 'rewind') return undefined;
  const first = before.find(({ role, settlement }) => role === 'transition' && settlement.outcome.status === 'ok');
  if (first === undefined) return undefined;
  if (call.role === 'rewind') return skipped(`"${first.settlement.toolName}" had already handed over`);
  const message = `A transition was already made in this reply ("${first.settlement.toolName}"). Only the first counts.`;
  return { status: 'error', code: 'transition_already_called', message, text: message };
}

function afterResponse(call: PlannedCall, before: readonly Ended[], rules: BatchRules): Outcome | undefined {
  const response = before.find(
    ({ role, settlement }) => (role === 'terminal' || role === 'listed') && settlement.outcome.status === 'ok',
  );
  if (response === undefined) return undefined;
  const { toolName } = response.settlement;
  // A transition takes precedence over a terminal call, so it still runs; a listed call has ended the run.
  if (response.role === 'terminal' && call.role === 'transition') return undefined;
  if (response.role === 'terminal' && call.role === 'terminal') {
    const message = `"${toolName}" has already given the response. "${call.toolName}" did not run.`;
    return { status: 'error', code: 'terminal_already_called', message, text: message };
  }
  if (response.role === 'terminal' && rules.afterTerminal === 'run' && call.role === 'plain') return undefined;
  return skipped(`"${toolName}" had already ended the turn`);
}

/** Whether a call has this outcome because the rules of its batch kept it from running. */
export function isUnrun(outcome: Outcome): boolean {
  if (outcome.status !== 'error') return outcome.status === 'skipped' || outcome.status === 'cancelled';
  return outcome.code === 'terminal_already_called' || outcome.code === 'transition_already_called';
}

function skipped(reason: string): Outcome {
  return { status: 'skipped', reason, text: `Skipped: ${reason}.` };
}

export function cancelled(reason: string): Outcome {
  return { status: 'cancelled', reason, text: `Cancelled: ${reason.replace(/\.$/, '')}.` };
}

/** A call that was kept from running is not a separate failure: the cause already counts. */
function isFailure({ outcome }: Settlement): boolean {
  return outcome.status === 'error' || outcome.status === 'pending';
}

function reasonOf({ outcome }: Settlement): string {
  if (outcome.status === 'pending') return 'is still pending';
  return outcome.status === 'error' ? `failed: ${outcome.message}` : `was ${outcome.status}`;
}
