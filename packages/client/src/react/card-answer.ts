import { createElement as h, type ReactElement } from 'react';
import { cardKind, choicesOf, yesAndNo } from './answer-shape.ts';
import { Approval } from './card-approval.ts';
import { type AnswerFieldsProps, button, type FieldsProps, send } from './card-button.ts';
import { FormFields } from './card-form.ts';
import { withVisibleControls } from './visible-text.ts';

/** The controls that fit what is asked: approve, yes or no, one of several choices, or a form. Nothing is preselected. */
export function AnswerFields(props: AnswerFieldsProps): ReactElement {
  const { call, shown } = props;
  const kind = cardKind(call);
  const isOff = call.input === undefined || shown.closed > 0;
  const fields = { approve: Approval, confirm: Confirm, choose: Choose, form: FormFields }[kind];
  return h(
    'div',
    null,
    shown.closed === 0 ? null : h('p', { id: shown.reasonId }, closedInWords(shown.closed, WORDS[kind])),
    h(fields, { ...props, isOff }),
  );
}

const WORDS = { approve: 'Approve', confirm: 'Yes', choose: 'Choosing', form: 'Send' } as const;

function closedInWords(closed: number, word: string): string {
  const parts = closed === 1 ? '1 part is closed.' : `${closed} parts are closed.`;
  return `${word} is off until you have opened all of the input: ${parts}`;
}

function Confirm({ call, answer, isOff, shown }: FieldsProps): ReactElement {
  const { yes, no } = yesAndNo(call.resultSchema) ?? {};
  return h(
    'p',
    null,
    button('Yes', { isOff, shown, onClick: () => send(answer({ result: yes })) }),
    button('No', { isOff: false, onClick: () => send(answer({ result: no })) }),
  );
}

function Choose({ call, answer, isOff, shown }: FieldsProps): ReactElement {
  const choices = choicesOf(call.resultSchema) ?? [];
  return h(
    'p',
    null,
    ...choices.map(({ text, value }) =>
      button(withVisibleControls(text), { isOff, shown, onClick: () => send(answer({ result: value })) }),
    ),
  );
}
