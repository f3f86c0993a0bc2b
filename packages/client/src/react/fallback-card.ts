import { createElement as h, type ReactElement, useId, useState } from 'react';
import type { CardProps } from './card.ts';
import { withVisibleControls } from './visible-text.ts';

/** Shows any call and accepts any answer: its name, its input, its state, and the controls to answer it. */
export function FallbackCard({ call, state, answer }: CardProps): ReactElement {
  const { toolName, input, inputText, output } = call;
  const isSending = state.status === 'sending';
  const mayAnswer = isSending || state.status === 'waiting' || state.status === 'refused' || state.status === 'unsent';
  return h(
    'section',
    { 'aria-label': toolName, 'data-card': toolName, 'data-status': state.status },
    h('h4', null, toolName),
    h(InputFields, { value: input === undefined ? inputText : input }),
    h('p', { role: 'status' }, sentence({ call, state })),
    output === undefined ? null : h(InputFields, { value: output }),
    // The form stays while the answer is sent, so that the typed text is still there if the gateway refuses it.
    !mayAnswer
      ? null
      : h(
          'fieldset',
          { disabled: isSending },
          h(call.kind === 'approval' ? Approval : Result, { answer, isShown: input !== undefined }),
        ),
  );
}

interface Asking extends Pick<CardProps, 'answer'> {
  /** True if the input has arrived and is shown. */
  readonly isShown: boolean;
}

/**
 * Nothing is preselected, nothing can be approved before it is shown, and a denial needs a reason: without one, models
 * ask again.
 */
function Approval({ answer, isShown }: Asking): ReactElement {
  const [reason, setReason] = useState('');
  return h(
    'p',
    null,
    h('button', { type: 'button', disabled: !isShown, onClick: () => send(answer({ approve: true })) }, 'Approve'),
    h('input', {
      'aria-label': 'Why not',
      placeholder: 'Why not',
      value: reason,
      onChange: ({ target }: { target: { value: string } }) => setReason(target.value),
    }),
    h('button', { type: 'button', disabled: reason === '', onClick: () => send(answer({ deny: reason })) }, 'Deny'),
  );
}

function Result({ answer }: Asking): ReactElement {
  const [text, setText] = useState('');
  const hint = useId();
  const parsed = parse(text);
  return h(
    'p',
    null,
    h('textarea', {
      'aria-label': 'Answer as JSON',
      'aria-describedby': hint,
      value: text,
      onChange: ({ target }: { target: { value: string } }) => setText(target.value),
    }),
    h('small', { id: hint }, text === '' || parsed !== undefined ? 'JSON' : 'This is not JSON yet.'),
    h(
      'button',
      {
        type: 'button',
        disabled: parsed === undefined,
        onClick: () => parsed !== undefined && send(answer({ result: parsed.value })),
      },
      'Send',
    ),
  );
}

/** The result of the answer is in the card's state, so errors are not handled here. */
function send(answering: Promise<unknown>): void {
  answering.catch(() => {});
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
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
    default:
      return call.by === undefined ? WORDS[state.status] : `${WORDS[state.status]} (${call.by.name})`;
  }
}

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

/** Shows a whole value: fields by name, lists item by item, texts with their line breaks. Nothing is truncated. */
function InputFields({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }): ReactElement {
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH)
    return h('div', { style: TEXT }, withVisibleControls(toText(value)));
  const inner = (one: unknown): ReactElement => h(InputFields, { value: one, depth: depth + 1 });
  if (Array.isArray(value)) return h('ol', null, ...value.map((one) => h('li', null, inner(one))));
  const fields = Object.entries(value).flatMap(([name, one]) => [
    h('dt', null, withVisibleControls(name)),
    h('dd', null, inner(one)),
  ]);
  return h('dl', null, ...fields);
}

/** Without this, the browser would join lines and let long ones overflow. */
const TEXT = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const;

/** Values nested deeper than this are shown as JSON. */
const MAX_DEPTH = 6;

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
