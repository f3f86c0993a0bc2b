import type { Middleware } from '../contract/middleware.ts';
import type { Outcome } from '../results/outcome.ts';
import { outcomeShape } from '../transcript/entry-shape.ts';
import type { Flaw } from '../transcript/shape.ts';
import { toPlainValue } from '../transcript/transcript-json.ts';
import type { CallRun } from './call-run.ts';
import type { Ending } from './execute-tool.ts';

/**
 * The ending after middleware has shaped it, innermost first. This happens before anything is recorded or emitted: the
 * session, the journal, the transcript and the listeners all get the same outcome.
 */
export function shapeOutcome(run: CallRun, ending: Ending, own: readonly Middleware[]): Ending {
  if (run.middleware.length === 0 && own.length === 0) return ending;
  const { outcome: given, input } = ending;
  const outcome = [...run.middleware, ...own].reduceRight((current, one) => shapeBy(one, run, current, input), given);
  return outcome === given ? ending : { ...ending, outcome };
}

/**
 * The status of the call is fixed. A middleware that throws, that would change the status, or whose outcome could be
 * stored and not read back, is logged and changes nothing.
 */
function shapeBy(middleware: Middleware, run: CallRun, outcome: Outcome, input: unknown): Outcome {
  if (middleware.outcome === undefined) return outcome;
  const { callId, toolName, logger } = run;
  try {
    const shaped = middleware.outcome(outcome, { callId, toolName, input });
    if (shaped === outcome) return outcome;
    if (shaped.status !== outcome.status) {
      logger.error(
        `Middleware "${middleware.name}" cannot make "${shaped.status}" of a call that is "${outcome.status}".`,
      );
      return outcome;
    }
    const flaw = flawOfOutcome(shaped);
    if (flaw === undefined) return shaped;
    logger.error(
      `Middleware "${middleware.name}" gave an invalid outcome for "${toolName}": ${flaw.at.slice(1)} ${flaw.problem} The outcome is unchanged.`,
    );
  } catch (error) {
    logger.error(
      `Middleware "${middleware.name}" threw on the outcome of "${toolName}". The outcome is unchanged.`,
      error,
    );
  }
  return outcome;
}

/** Why an outcome could be stored and not read back, and where in it. */
function flawOfOutcome(outcome: Outcome): Flaw | undefined {
  // The value may be anything, and costly to copy.
  const { value: _value, ...others } = outcome as Outcome & { readonly value?: unknown };
  return outcomeShape(toPlainValue(others));
}
