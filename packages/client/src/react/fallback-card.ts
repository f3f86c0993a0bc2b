import { createElement as h, type ReactElement } from 'react';
import type { CardProps } from './card.ts';
import { AnswerFields } from './card-answer.ts';
import { CardInput, Value } from './card-input.ts';
import { useShownInput } from './use-shown-input.ts';

/**
 * Shows any call and accepts any answer: its name, all of its input, its state, and the controls to answer it. It has no style of its own:
 * `[data-card]` and `[data-status]` are for yours.
 */
export function FallbackCard({ call, state, answer }: CardProps): ReactElement {
  const { toolName, input, inputText, output } = call;
  const shown = useShownInput(call);
  const isSending = state.status === 'sending';
  const mayAnswer = isSending || state.status === 'waiting' || state.status === 'refused' || state.status === 'unsent';
  return h(
    'section',
    { 'aria-label': toolName, 'data-card': toolName, 'data-status': state.status },
    h('h4', null, toolName),
    input === undefined ? h(Value, { value: inputText }) : h(CardInput, { shown }),
    h('p', { role: 'status' }, sentence({ call, state })),
    output === undefined ? null : h(Value, { value: output }),
    // The form stays while the answer is sent, so that the typed text is still there if the gateway refuses it.
    mayAnswer ? h('fieldset', { disabled: isSending }, h(AnswerFields, { call, answer, shown })) : null,
  );
}

function sentence({ call, state }: Pick<CardProps, 'call' | 'state'>): string {
  switch (state.status) {
    case 'refused':
      return state.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ');
    case 'unsent':
      return `Your answer was not sent: ${state.error.message}`;
    case 'lost':
      return `${state.by.name} answered before you.`;
    case 'cancelled':
      return state.reason === '' ? 'Cancelled.' : `Cancelled: ${state.reason}`;
    default: {
      const words = state.status === 'running' && call.decision === 'approve' ? APPROVED : WORDS[state.status];
      return call.by === undefined ? words : `${words} (${call.by.name})`;
    }
  }
}

/** The card does not say whether the call has begun: its agent may be paused, busy, or wait for another call first. */
const APPROVED = 'Approved. There is no result yet.';

const WORDS = {
  writing: 'The agent is writing.',
  running: 'Running.',
  waiting: 'Waiting for an answer.',
  sending: 'Sending.',
  answered: 'Answered.',
  complete: 'Done.',
  error: 'Failed.',
  expired: 'Expired: no answer came in time.',
} as const;
