import type { DecisionContext } from './decision.ts';
import type { RunEvent } from './run-event.ts';
import type { LiveEvent } from './run-write.ts';

/**
 * The event that the run's stream gets while the turn is running. The ends of calls and of the run are sent with their
 * records. The deltas after a step's last `step.start` concatenate to what is stored: an interrupted reply is requested
 * again.
 */
export function liveEvent(event: RunEvent, { runStream }: DecisionContext): LiveEvent | undefined {
  if (runStream === undefined || runStream === 'ends' || (runStream === 'steps' && WRITTEN.has(event.type)))
    return undefined;
  const payload = payloadOf(event);
  return payload === undefined ? undefined : { kind: 'live-event', type: TYPES[event.type] ?? event.type, payload };
}

/** Events about what the model is writing. */
const WRITTEN: ReadonlySet<RunEvent['type']> = new Set([
  'text-written',
  'reasoning-written',
  'input-started',
  'input-extended',
]);

const TYPES: { readonly [Type in RunEvent['type']]?: string } = {
  'step-started': 'step.start',
  'text-written': 'text.delta',
  'reasoning-written': 'reasoning.delta',
  'input-started': 'tool-input-start',
  'input-extended': 'tool-input-delta',
  'call-began': 'tool-call.start',
  'progress-reported': 'tool-call.progress',
  'step-ended': 'step.end',
  nudged: 'nudge',
  rewound: 'rewind',
};

function payloadOf(event: RunEvent): Readonly<Record<string, unknown>> | undefined {
  switch (event.type) {
    case 'step-started':
      return { step: event.step, attempt: event.attempt };
    case 'text-written':
    case 'reasoning-written':
      // What workers write is no part of the conversation, and those that write at the same time would be mixed.
      if (event.isOfWorker === true) return undefined;
      return { step: event.step, delta: event.text };
    case 'input-started':
      return { callId: event.callId, toolName: event.toolName };
    case 'input-extended':
      return { callId: event.callId, delta: event.delta };
    case 'call-began':
      return { callId: event.callId, toolName: event.toolName, input: event.input };
    case 'progress-reported':
      return { callId: event.callId, value: event.value };
    case 'step-ended':
      return { step: event.step, usage: event.usage };
    case 'nudged':
      return { step: event.step, text: event.text };
    case 'rewound':
      return { step: event.step, reason: event.reason, guidance: event.guidance };
    default:
      return undefined;
  }
}
