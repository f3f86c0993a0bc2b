import type { Outcome, Settlement } from '../results/outcome.ts';
import type { PlannedCall } from './batch-plan.ts';
import type { Ended } from './ending.ts';

export interface BatchRules {
  readonly onError: 'continue' | 'cancel-rest';
  readonly afterTerminal: 'skip' | 'run';
}

/**
 * Why a call must not start, given what was settled before it in its batch; undefined where it may. The call then settles
 * with this outcome.
 */
export function refusalOf(call: PlannedCall, before: readonly Ended[], rules: BatchRules): Outcome | undefined {
  const rewound = before.find(({ role, settlement }) => role === 'rewind' && settlement.outcome.status === 'ok');
  if (rewound !== undefined) return cancelled(`the turn was rewound by call ${rewound.settlement.callId}`);
  const failed = rules.onError === 'cancel-rest' ? before.find(({ settlement }) => !isSuccess(settlement)) : undefined;
  if (failed !== undefined)
    return cancelled(
      `"${failed.settlement.toolName}" (call ${failed.settlement.callId}) ${reasonOf(failed.settlement)}`,
    );
  if (call.role === 'transition') return afterTransition(before);
  return afterResponse(call, before, rules);
}

function afterTransition(before: readonly Ended[]): Outcome | undefined {
  const first = before.find(({ role, settlement }) => role === 'transition' && settlement.outcome.status === 'ok');
  if (first === undefined) return undefined;
  const message = `A transition was already made in this reply ("${first.settlement.toolName}"). Only the first counts.`;
  return { status: 'error', code: 'transition_already_called', message, text: message };
}

function afterResponse(call: PlannedCall, before: readonly Ended[], rules: BatchRules): Outcome | undefined {
  const response = before.find(
    ({ role, settlement }) => (role === 'terminal' || role === 'listed') && settlement.outcome.status === 'ok',
  );
  if (response === undefined) return undefined;
  const { toolName } = response.settlement;
  if (response.role === 'terminal' && call.role === 'terminal') {
    const message = `"${toolName}" has already given the response. "${call.toolName}" did not run.`;
    return { status: 'error', code: 'terminal_already_called', message, text: message };
  }
  if (response.role === 'terminal' && rules.afterTerminal === 'run' && call.role === 'plain') return undefined;
  const reason = `"${toolName}" had already ended the turn`;
  return { status: 'skipped', reason, text: `Skipped: ${reason}.` };
}

export function cancelled(reason: string): Outcome {
  return { status: 'cancelled', reason, text: `Cancelled: ${reason}.` };
}

function isSuccess({ outcome }: Settlement): boolean {
  return outcome.status === 'ok';
}

function reasonOf({ outcome }: Settlement): string {
  if (outcome.status === 'pending') return 'is still pending';
  return outcome.status === 'error' ? `failed: ${outcome.message}` : `was ${outcome.status}`;
}
