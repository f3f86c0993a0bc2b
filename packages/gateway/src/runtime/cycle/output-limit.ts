import type { Middleware, Outcome } from '@lastcall/core';
import { cutOutcome, type OutputLimits } from '../../domain/consciousness/cut-output.ts';

/** Keeps outputs of tools within their limit, and gives the journal what was cut off, to be kept with the call's end. */
export interface OutputLimit {
  readonly middleware: Middleware;
  /** What the call really gave, where that is kept; otherwise the outcome itself. */
  wholeOf(outcome: Outcome): Outcome;
}

/**
 * Before anybody is told of the call's end: the model, the transcript, the card and the streams all get what is within the limit, so
 * that one large output harms neither the rest of its run nor the runs after it.
 */
export function createOutputLimit(limits: OutputLimits): OutputLimit {
  const wholes = new WeakMap<Outcome, Outcome>();
  return {
    middleware: {
      name: 'output-limit',
      outcome(outcome, { callId, toolName }) {
        // Its pages have a limit of their own: cut again, what it reads back could not be read.
        if (toolName === 'read_output') return outcome;
        const shown = cutOutcome(outcome, callId, limits);
        if (shown.cut?.kept === true) wholes.set(shown, outcome);
        return shown;
      },
    },
    wholeOf: (outcome) => wholes.get(outcome) ?? outcome,
  };
}
