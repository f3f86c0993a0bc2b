import type { Middleware, Outcome } from '@lastcall/core';
import { cutOutcome, type OutputLimits } from '../../domain/consciousness/cut-output.ts';

/** Keeps tool outputs within their limit, and gives the journal the full output to store with the end of the call. */
export interface OutputLimit {
  readonly middleware: Middleware;
  /** The outcome before it was cut, if that is kept; otherwise the outcome itself. */
  fullOutcome(outcome: Outcome): Outcome;
}

/**
 * Cuts the output before anybody reads it: the model, the transcript, the card and the streams all get the cut one, so
 * that a large output harms neither its own run nor later ones.
 */
export function createOutputLimit(limits: OutputLimits): OutputLimit {
  const fullOutcomes = new WeakMap<Outcome, Outcome>();
  return {
    middleware: {
      name: 'output-limit',
      outcome(outcome, { callId, toolName }) {
        // The pages of `read_output` have a limit of their own. If they were cut again, nobody could read the full
        // output back.
        if (toolName === 'read_output') return outcome;
        const shown = cutOutcome(outcome, callId, limits);
        if (shown.cut?.kept === true) fullOutcomes.set(shown, outcome);
        return shown;
      },
    },
    fullOutcome: (outcome) => fullOutcomes.get(outcome) ?? outcome,
  };
}
