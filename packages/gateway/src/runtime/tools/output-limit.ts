import type { Middleware, Outcome } from '@lastcall/core';
import { cutOutcome, type OutputLimits } from '../../domain/transcript/cut-output.ts';

/** Keeps tool outputs within their limit, and gives the journal the full output to store with the end of the call. */
export interface OutputLimit {
  readonly middleware: Middleware;
  /** The full outcome, if it is stored; otherwise the outcome itself. */
  fullOutcome(outcome: Outcome): Outcome;
}

/**
 * Cuts an output before it is used: the model, the transcript, the card and the streams all get the shortened output,
 * so that a large one harms neither its own run nor later ones.
 */
export function createOutputLimit(limits: OutputLimits): OutputLimit {
  const fullOutcomes = new WeakMap<Outcome, Outcome>();
  return {
    middleware: {
      name: 'output-limit',
      outcome(outcome, { callId, toolName }) {
        // The pages of `read_output` have their own limit. If they were cut again, the full output could not be read.
        if (toolName === 'read_output') return outcome;
        const shown = cutOutcome(outcome, callId, limits);
        if (shown.cut?.kept === true) fullOutcomes.set(shown, outcome);
        return shown;
      },
    },
    fullOutcome: (outcome) => fullOutcomes.get(outcome) ?? outcome,
  };
}
