import { createElement as h, type ReactElement, useId, useState } from 'react';
import type { GrantRequest } from '../wire.generated.ts';
import { valueInWords } from './answer-shape.ts';
import { button, send } from './card-button.ts';
import type { StepProps } from './card-edit.ts';
import { isFields } from './input-parts.ts';
import { withVisibleControls } from './visible-text.ts';

/**
 * Approves the call, and later ones like it. No length is preselected, and every field keeps its value until the user lets it vary. Fields
 * that the call does not have are not limited, and the form says so. A grant without an end is for operators, in the studio.
 */
export function GrantFields({ call: { input }, answer, onBack }: StepProps): ReactElement {
  const [length, setLength] = useState<GrantRequest['for']>();
  const [free, setFree] = useState<readonly string[]>([]);
  const group = useId();
  const fields = isFields(input) ? Object.entries(input) : [];
  const approve = (): void => {
    if (length === undefined) return;
    const conditions = fields.filter(([name]) => !free.includes(name)).map(toCondition);
    send(answer({ approve: true, grant: { for: length, ...(conditions.length === 0 ? {} : { conditions }) } }));
  };
  return h(
    'div',
    null,
    h(
      'fieldset',
      null,
      h('legend', null, 'How long may the agent call it without asking?'),
      ...LENGTHS.map(([one, word]) =>
        option(word, { type: 'radio', name: group, checked: length === one, onChange: () => setLength(one) }),
      ),
    ),
    fields.length === 0
      ? h('p', null, 'It may have any input.')
      : h(
          'fieldset',
          null,
          h('legend', null, 'Only with these values'),
          ...fields.map(([name, value]) =>
            option(`${name}: ${valueInWords(value)}`, {
              type: 'checkbox',
              checked: !free.includes(name),
              onChange: () =>
                setFree((before) => (before.includes(name) ? before.filter((one) => one !== name) : [...before, name])),
            }),
          ),
          h('small', null, 'Fields that are not listed may have any value.'),
        ),
    h(
      'p',
      null,
      button('Back', { isOff: false, onClick: onBack }),
      button('Approve and allow', { isOff: length === undefined, onClick: approve }),
    ),
  );
}

const LENGTHS = [
  ['run', 'For the rest of the run'],
  ['hour', 'For one hour'],
] as const;

function option(words: string, props: object): ReactElement {
  return h('label', { key: words }, h('input', props), ' ', withVisibleControls(words));
}

function toCondition([name, value]: [string, unknown]): { readonly field: string; readonly equals: unknown } {
  return { field: `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, equals: value };
}
