import { createElement as h, type ReactElement, useState } from 'react';
import { valueInWords } from './answer-shape.ts';
import { button, type FieldsProps, send } from './card-button.ts';
import { DrawnFields, fieldsOf, JsonField, readJson, textsOf, valuesOf } from './card-form.ts';
import { isFields } from './input-parts.ts';
import { withVisibleControls } from './visible-text.ts';

export interface StepProps extends FieldsProps {
  readonly onBack: () => void;
}

/** Edits the input, and shows what was changed beside what was asked before anything is sent. */
export function EditFields({ call: { input, resultSchema }, answer, onBack }: StepProps): ReactElement {
  const fields = fieldsOf(resultSchema);
  const known = fields && textsOf(fields, input);
  const [typed, setTyped] = useState(known ?? {});
  const [text, setText] = useState(() => JSON.stringify(input, null, 2));
  const isDrawn = fields !== undefined && known !== undefined;
  const changed = isDrawn ? { value: { ...without(input, fields), ...valuesOf(fields, typed) } } : readJson(text);
  const changes = changed === undefined ? [] : changesOf(input, changed.value);
  return h(
    'div',
    null,
    isDrawn
      ? h(DrawnFields, { fields, typed, onChange: setTyped })
      : h(JsonField, { label: 'Input as JSON', text, onChange: setText }),
    changes.length === 0
      ? null
      : h(
          'dl',
          { 'aria-label': 'Changes' },
          ...changes.flatMap(({ name, before, after }) => [
            h('dt', { key: `${name} name` }, withVisibleControls(name)),
            h('dd', { key: name }, h('del', null, words(before)), ' ', h('ins', null, words(after))),
          ]),
        ),
    h(
      'p',
      null,
      button('Back', { isOff: false, onClick: onBack }),
      button('Approve this', {
        isOff: changes.length === 0,
        onClick: () => changed !== undefined && send(answer({ approve: true, input: changed.value })),
      }),
    ),
  );
}

/** The fields of the input that the form does not draw stay as they are. */
function without(input: unknown, drawn: readonly { readonly name: string }[]): object {
  const others = Object.entries(isFields(input) ? input : {}).filter(
    ([name]) => !drawn.some((one) => one.name === name),
  );
  return Object.fromEntries(others);
}

interface Change {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

function changesOf(before: unknown, after: unknown): readonly Change[] {
  if (!isFields(before) || !isFields(after)) return isSame(before, after) ? [] : [{ name: 'input', before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((one) => !isSame(one.before, one.after));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function words(value: unknown): string {
  return withVisibleControls(valueInWords(value));
}
