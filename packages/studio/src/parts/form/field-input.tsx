import { withVisibleControls } from '@lastcall/client/react';
import { Plus, X } from 'lucide-react';
import { type ReactElement, type ReactNode, useId } from 'react';
import { Button } from '../ui/button.tsx';
import { SelectField, TextArea, TextField } from '../ui/field.tsx';
import { fromLocalTime, toLocalTime } from './date-time.ts';
import { type Draft, toDraft } from './draft.ts';
import type { Field, Option, Shape } from './field.ts';
import { type Problem, pathTo } from './path.ts';

interface FieldInputProps {
  readonly field: Field;
  readonly path: string;
  readonly isRequired: boolean;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly problems: readonly Problem[];
}

/** One field of a form, or the fields inside it. */
export function FieldInput(props: FieldInputProps): ReactElement {
  const { shape } = props.field;
  switch (shape.kind) {
    case 'object':
      return <ObjectInput {...props} shape={shape} />;
    case 'list':
      return <ListInput {...props} shape={shape} />;
    case 'choice':
      return <ChoiceInput {...props} options={shape.options} />;
    case 'choices':
      return <ChoicesInput {...props} options={shape.options} />;
    case 'fixed':
      return <FixedValue field={props.field} value={shape.value} />;
    case 'text':
      return <TextInput {...props} shape={shape} />;
    case 'number':
      return (
        <TextField
          {...described(props)}
          inputMode={shape.isInteger ? 'numeric' : 'decimal'}
          className="max-w-48"
          value={String(props.draft)}
          onChange={({ target }) => props.onChange(target.value)}
        />
      );
    case 'json':
      return (
        <TextArea
          {...described(props)}
          hint={hint(props.field.description, 'Written as JSON.')}
          rows={4}
          spellCheck={false}
          className="font-mono text-xs"
          value={String(props.draft)}
          onChange={({ target }) => props.onChange(target.value)}
        />
      );
  }
}

function TextInput(props: FieldInputProps & { shape: Extract<Shape, { kind: 'text' }> }): ReactElement {
  const { draft, onChange, shape } = props;
  const text = String(draft);
  if (shape.input === 'lines')
    return (
      <TextArea
        {...described(props)}
        rows={1}
        className="field-sizing-content max-h-80 min-h-8"
        value={text}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  const isMoment = shape.input === 'date-time';
  return (
    <TextField
      {...described(props)}
      {...(isMoment ? { hint: hint(props.field.description, `In your time zone, ${TIME_ZONE}.`) } : {})}
      type={INPUT_TYPES[shape.input]}
      step={isMoment ? 1 : undefined}
      className={shape.input === 'line' || shape.input === 'email' || shape.input === 'url' ? '' : 'max-w-64'}
      value={isMoment ? toLocalTime(text) : text}
      onChange={({ target }) => onChange(isMoment ? fromLocalTime(target.value) : target.value)}
    />
  );
}

const INPUT_TYPES = {
  line: 'text',
  email: 'email',
  url: 'url',
  date: 'date',
  'date-time': 'datetime-local',
} as const;

const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** No option is preselected. */
function ChoiceInput(props: FieldInputProps & { options: readonly Option[] }): ReactElement {
  const { options, draft, onChange, isRequired } = props;
  return (
    <SelectField
      {...described(props)}
      className="max-w-96"
      value={String(draft)}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">{isRequired && !props.field.isNullable ? 'Choose …' : 'Nothing'}</option>
      {options.map(({ text, json }) => (
        <option key={json} value={json}>
          {withVisibleControls(text)}
        </option>
      ))}
    </SelectField>
  );
}

function ChoicesInput(props: FieldInputProps & { options: readonly Option[] }): ReactElement {
  const chosen = Array.isArray(props.draft) ? (props.draft as readonly string[]) : [];
  return (
    <Group {...props}>
      <div className="flex flex-wrap gap-x-4">
        {props.options.map(({ text, json }) => (
          <label key={json} className="flex min-h-8 items-center gap-2">
            <input
              type="checkbox"
              checked={chosen.includes(json)}
              onChange={({ target }) =>
                props.onChange(target.checked ? [...chosen, json] : chosen.filter((one) => one !== json))
              }
            />
            {withVisibleControls(text)}
          </label>
        ))}
      </div>
    </Group>
  );
}

function ObjectInput(props: FieldInputProps & { shape: Extract<Shape, { kind: 'object' }> }): ReactNode {
  const drafts = (typeof props.draft === 'object' ? props.draft : {}) as Readonly<Record<string, Draft>>;
  const fields = props.shape.properties.map(({ name, field, isRequired }) => (
    <FieldInput
      key={name}
      field={field}
      path={pathTo(props.path, name)}
      isRequired={isRequired}
      draft={drafts[name] ?? ''}
      onChange={(draft) => props.onChange({ ...drafts, [name]: draft })}
      problems={props.problems}
    />
  ));
  if (props.path !== '') return <Group {...props}>{fields}</Group>;
  return fields.length === 0 ? <p className="text-quiet">It takes no input.</p> : fields;
}

function ListInput(props: FieldInputProps & { shape: Extract<Shape, { kind: 'list' }> }): ReactElement {
  const { item } = props.shape;
  const drafts = Array.isArray(props.draft) ? (props.draft as readonly Draft[]) : [];
  return (
    <Group {...props}>
      {drafts.map((draft, index) => (
        <div key={index} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <FieldInput
              field={{ ...item, label: `${item.label} ${index + 1}` }}
              path={pathTo(props.path, index)}
              isRequired
              draft={draft}
              onChange={(changed) => props.onChange(drafts.with(index, changed))}
              problems={props.problems}
            />
          </div>
          <Button
            kind="ghost"
            className="mt-5 px-2"
            aria-label={`Remove ${item.label} ${index + 1}`}
            onClick={() => props.onChange(drafts.toSpliced(index, 1))}
          >
            <X size={16} aria-hidden />
          </Button>
        </div>
      ))}
      <div>
        <Button onClick={() => props.onChange([...drafts, toDraft(item)])}>
          <Plus size={16} aria-hidden /> Add {item.label.toLowerCase()}
        </Button>
      </div>
    </Group>
  );
}

/** Fields that belong together, with the problems of the group. */
function Group({
  field,
  path,
  isRequired,
  problems,
  children,
}: FieldInputProps & { children: ReactNode }): ReactElement {
  const id = useId();
  const problem = problems.find((one) => one.path === path)?.message;
  return (
    <fieldset aria-describedby={`${id}-note`} className="flex min-w-0 flex-col gap-2">
      <legend className="text-sm font-medium">
        {withVisibleControls(field.label)}
        {!isRequired && <span className="font-normal text-quiet"> (optional)</span>}
      </legend>
      <p id={`${id}-note`} className={`text-xs empty:hidden ${problem === undefined ? 'text-quiet' : 'text-bad'}`}>
        {problem ?? (field.description === undefined ? undefined : withVisibleControls(field.description))}
      </p>
      <div className="flex flex-col gap-3 border-l-2 border-line pl-3">{children}</div>
    </fieldset>
  );
}

function FixedValue({ field, value }: { field: Field; value: unknown }): ReactElement {
  return (
    <p className="text-sm">
      <span className="font-medium">{withVisibleControls(field.label)}</span>{' '}
      <span className="text-quiet">is always </span>
      <code className="font-mono text-xs">{withVisibleControls(JSON.stringify(value))}</code>
    </p>
  );
}

function described({ field, path, isRequired, problems }: FieldInputProps): {
  label: string;
  isOptional: boolean;
  hint: ReactNode;
  problem: string | undefined;
} {
  const problem = problems.find((one) => one.path === path)?.message;
  return {
    label: withVisibleControls(field.label),
    isOptional: !isRequired,
    hint: hint(field.description),
    problem: problem === undefined ? undefined : withVisibleControls(problem),
  };
}

function hint(...texts: readonly (string | undefined)[]): string | undefined {
  const text = texts.filter((one) => one !== undefined).join(' ');
  return text === '' ? undefined : withVisibleControls(text);
}
