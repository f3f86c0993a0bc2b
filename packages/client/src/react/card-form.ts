import { createElement as h, type ReactElement, useId, useState } from 'react';
import { valueInWords } from './answer-shape.ts';
import { button, type FieldsProps, send } from './card-button.ts';
import { isFields } from './input-parts.ts';
import { withVisibleControls } from './visible-text.ts';

/** A field of a form. */
interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly type: 'text' | 'number' | 'choice';
  readonly choices: readonly unknown[];
}

/** A form made from the schema of the result. A schema that it cannot draw is answered as JSON, so that no card is a dead end. */
export function FormFields(props: FieldsProps): ReactElement {
  const fields = fieldsOf(props.call.resultSchema);
  return fields === undefined ? h(JsonForm, props) : h(Form, { ...props, fields });
}

function Form({ answer, isOff, shown, fields }: FieldsProps & { readonly fields: readonly FormField[] }): ReactElement {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const isMissing = fields.some(({ name, isRequired }) => isRequired && (typed[name] ?? '') === '');
  const result = (): object =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const text = typed[field.name] ?? '';
        return text === '' ? [] : [[field.name, resultOf(field, text)]];
      }),
    );
  return h(
    'div',
    null,
    ...fields.map((field) =>
      h(DrawnField, {
        field,
        value: typed[field.name] ?? '',
        onChange: (text) => setTyped((before) => ({ ...before, [field.name]: text })),
      }),
    ),
    button('Send', { isOff: isOff || isMissing, shown, onClick: () => send(answer({ result: result() })) }),
  );
}

function resultOf({ type, choices }: FormField, text: string): unknown {
  if (type === 'number') return Number(text);
  return type === 'choice' ? choices[Number(text)] : text;
}

interface DrawnFieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function DrawnField({ field, value, onChange }: DrawnFieldProps): ReactElement {
  const { type, label, description, isRequired, choices } = field;
  const id = useId();
  const given = { id, value, onChange: ({ target }: { target: { value: string } }) => onChange(target.value) };
  return h(
    'p',
    null,
    h('label', { htmlFor: id }, `${withVisibleControls(label)}${isRequired ? '' : ' (optional)'}`),
    description === undefined ? null : h('small', null, ` ${withVisibleControls(description)}`),
    type === 'choice'
      ? h(
          'select',
          given,
          h('option', { value: '' }, '—'),
          ...choices.map((one, index) => h('option', { value: index }, withVisibleControls(valueInWords(one)))),
        )
      : type === 'number'
        ? h('input', { ...given, type, step: 'any' })
        : h('textarea', given),
  );
}

/** The fields of an object whose fields are texts, numbers and choices. Undefined for all other schemas. */
function fieldsOf(schema: unknown): readonly FormField[] | undefined {
  if (!isFields(schema) || !isFields(schema.properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(schema.properties).map(([name, one]) => fieldOf(name, one, required.includes(name)));
  const drawn = fields.filter((field) => field !== undefined);
  return drawn.length === fields.length && drawn.length > 0 ? drawn : undefined;
}

function fieldOf(name: string, schema: unknown, isRequired: boolean): FormField | undefined {
  if (!isFields(schema)) return undefined;
  const { title, description, type, enum: listed } = schema;
  const choices = Array.isArray(listed) ? listed : type === 'boolean' ? [true, false] : [];
  const isNumber = type === 'number' || type === 'integer';
  if (choices.length === 0 && type !== 'string' && !isNumber) return undefined;
  return {
    name,
    label: typeof title === 'string' && title !== '' ? title : name,
    description: typeof description === 'string' ? description : undefined,
    isRequired,
    type: choices.length > 0 ? 'choice' : isNumber ? 'number' : 'text',
    choices,
  };
}

function JsonForm({ answer, isOff, shown }: FieldsProps): ReactElement {
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
    button('Send', {
      isOff: isOff || parsed === undefined,
      shown,
      onClick: () => parsed !== undefined && send(answer({ result: parsed.value })),
    }),
  );
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
