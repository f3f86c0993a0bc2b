import type { Outcome } from '../results/outcome.ts';
import type { LimitHit } from './call-limit.ts';
import type { CallRun } from './call-run.ts';
import { type ErrorOutcome, errorOutcome } from './refusal.ts';

// All texts about what remains of a call that a deadline or an abort ended are here: a model that reads too much gives
// up on work that can be repeated, and one that reads too little pays twice.
const NOTHING_REMAINS = 'Nothing it wrote remains.';
const ROLLED_BACK = 'What it changed in the session, its files and its resources was rolled back.';
const NOT_PUT_BACK = 'What it changed could not all be put back.';
const MAY_HAVE_ACTED = 'What it did outside may have taken effect, or may still do so: check before you repeat it.';
const HAD_BEGUN = 'It was running when the process ended: what it did outside then may have taken effect.';
const HAD_RUN = 'It had already run: what it did outside may have taken effect.';

/** Notes that this call, and so every call around it, may have changed something outside. */
export function markActedOutside(run: CallRun): void {
  for (let one: CallRun | undefined = run; one?.actedOutside === false; one = one.outer) one.actedOutside = true;
}

/** The outcome of a call whose limit was hit before its tool was entered: it has done nothing. */
export function notRunOutcome({ toolName }: CallRun, hit: LimitHit): ErrorOutcome {
  return { ...errorOutcome(hit.code, `"${toolName}" did not run: ${hit.message}.`), effect: 'none' };
}

/** The same for a call that an earlier process had begun to run: not running it again does not undo the first run. */
export function unrunOutcome({ begunBefore }: CallRun, outcome: Outcome): Outcome {
  if (begunBefore !== true || outcome.status !== 'error') return outcome;
  return { ...outcome, text: `${outcome.text} ${HAD_BEGUN}`, effect: 'possible' };
}

/** The outcome of a call whose limit was hit while its tool, or a middleware around it, was running. */
export function cutOffOutcome({ toolName, actedOutside }: CallRun, hit: LimitHit): ErrorOutcome {
  const message = `"${toolName}" did not finish: ${hit.message}.`;
  // This holds for an idempotent tool too: if the model calls it again, that call has another key.
  const remains = actedOutside ? `${ROLLED_BACK} ${MAY_HAVE_ACTED}` : NOTHING_REMAINS;
  return {
    ...errorOutcome(hit.code, message, `${message} ${remains}`),
    effect: actedOutside ? 'possible' : 'none',
  };
}

/** A refused result of a tool: the tool had already run, and refusing its result does not undo its effects. */
export function refusedAfterRun({ actedOutside }: CallRun, refusal: ErrorOutcome): ErrorOutcome {
  return actedOutside ? { ...refusal, text: `${refusal.text} ${HAD_RUN}` } : refusal;
}

/**
 * The same outcome if rolling back the call's changes has failed. Other outcomes do not claim a rollback, and are
 * unchanged.
 */
export function notPutBack(outcome: Outcome): Outcome {
  if (outcome.status !== 'error' || outcome.effect === undefined) return outcome;
  const outside = outcome.effect === 'possible' ? ` ${MAY_HAVE_ACTED}` : '';
  return { ...outcome, text: `${outcome.message} ${NOT_PUT_BACK}${outside}` };
}
