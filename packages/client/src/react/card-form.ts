import { Fragment, createElement as h, type ReactElement, useId, useState } from 'react';
import { valueInWords } from './answer-shape.ts';
import { button, type FieldsProps, send } from './card-button.ts';
import { isFields } from './input-parts.ts';
import { withVisibleControls } from './visible-text.ts';

/** A field of a form. */
export interface FormField {
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
  if (fields !== undefined) return h(Form, { ...props, fields, toResult: (values) => values });
  const text = textField(props.call.resultSchema);
  if (text === undefined) return h(JsonForm, props);
  return h(Form, { ...props, fields: [text], toResult: (values) => values[text.name] });
}

/** For a result that is a text. People write it as it is, and not in the quotes of JSON. */
function textField(schema: unknown): FormField | undefined {
  return isFields(schema) && schema.type === 'string' ? fieldOf('Answer', schema, true) : undefined;
}

interface FormProps extends FieldsProps {
  readonly fields: readonly FormField[];
  readonly toResult: (values: Readonly<Record<string, unknown>>) => unknown;
}

function Form({ answer, isOff, shown, fields, toResult }: FormProps): ReactElement {
  const [typed, setTyped] = useState<Typed>({});
  const isMissing = fields.some(({ name, isRequired }) => isRequired && (typed[name] ?? '') === '');
  return h(
    'div',
    null,
    h(DrawnFields, { fields, typed, onChange: setTyped }),
    button('Send', {
      isOff: isOff || isMissing,
      shown,
      onClick: () => send(answer({ result: toResult(valuesOf(fields, typed)) })),
    }),
  );
}

/** What was typed into the fields, by their names. */
export type Typed = Readonly<Record<string, string>>;

interface DrawnFieldsProps {
  readonly fields: readonly FormField[];
  readonly typed: Typed;
  readonly onChange: (typed: Typed) => void;
}

export function DrawnFields({ fields, typed, onChange }: DrawnFieldsProps): ReactElement {
  return h(
    'div',
    null,
    ...fields.map((field) =>
      h(DrawnField, {
        key: field.name,
        field,
        value: typed[field.name] ?? '',
        onChange: (text) => onChange({ ...typed, [field.name]: text }),
      }),
    ),
  );
}

/** The object that the fields mean. Empty ones are left out. */
export function valuesOf(fields: readonly FormField[], typed: Typed): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = typed[field.name] ?? '';
      return text === '' ? [] : [[field.name, resultOf(field, text)]];
    }),
  );
}

/** The texts with which the fields mean this object. Undefined if they cannot. */
export function textsOf(fields: readonly FormField[], value: unknown): Typed | undefined {
  if (!isFields(value)) return undefined;
  const texts = fields
    .filter(({ name }) => value[name] !== undefined)
    .map((field) => [field.name, textOf(field, value[field.name])]);
  const typed = Object.fromEntries(texts) as Typed;
  const isWhole = fields.every(
    ({ name }) => JSON.stringify(value[name]) === JSON.stringify(valuesOf(fields, typed)[name]),
  );
  return isWhole ? typed : undefined;
}

function textOf({ type, choices }: FormField, value: unknown): string {
  return type === 'choice' ? String(choices.indexOf(value)) : String(value);
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
export function fieldsOf(schema: unknown): readonly FormField[] | undefined {
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
  const parsed = readJson(text);
  return h(
    'p',
    null,
    h(JsonField, { label: 'Answer as JSON', text, onChange: setText }),
    button('Send', {
      isOff: isOff || parsed === undefined,
      shown,
      onClick: () => parsed !== undefined && send(answer({ result: parsed.value })),
    }),
  );
}

interface JsonFieldProps {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

export function JsonField({ label, text, onChange }: JsonFieldProps): ReactElement {
  const hint = useId();
  return h(
    Fragment,
    null,
    h('textarea', {
      'aria-label': label,
      'aria-describedby': hint,
      value: text,
      onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
    }),
    h('small', { id: hint }, text === '' || readJson(text) !== undefined ? 'JSON' : 'This is not JSON yet.'),
  );
}

export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
