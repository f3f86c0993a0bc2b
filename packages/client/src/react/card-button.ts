import { createElement as h, type ReactElement } from 'react';
import type { CardProps } from './card.ts';
import type { ShownInput } from './use-shown-input.ts';

export interface AnswerFieldsProps extends Pick<CardProps, 'call' | 'answer'> {
  readonly shown: ShownInput;
}

export interface FieldsProps extends AnswerFieldsProps {
  /** True until the input has arrived and all of it was shown. */
  readonly isOff: boolean;
}

interface ButtonOptions {
  readonly isOff: boolean;
  /** What must be opened first. */
  readonly shown?: ShownInput;
  readonly onClick: () => void;
}

export function button(word: string, { isOff, shown, onClick }: ButtonOptions): ReactElement {
  const reason = shown !== undefined && shown.closed > 0 ? { 'aria-describedby': shown.reasonId } : {};
  return h('button', { type: 'button', disabled: isOff, ...reason, onClick }, word);
}

/** The result of the answer is in the card's state, so errors are not handled here. */
export function send(answering: Promise<unknown>): void {
  answering.catch(() => {});
}
