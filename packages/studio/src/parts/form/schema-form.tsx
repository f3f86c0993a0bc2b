import { withVisibleControls } from '@lastcall/client/react';
import { Braces, ListTree } from 'lucide-react';
import type { ReactElement } from 'react';
import { Button } from '../ui/button.tsx';
import { TextArea } from '../ui/field.tsx';
import { fieldPaths } from './draft.ts';
import { FieldInput } from './field-input.tsx';
import type { Problem } from './path.ts';
import type { SchemaFormState } from './use-schema-form.ts';

interface SchemaFormProps {
  readonly form: SchemaFormState;
  readonly isDisabled?: boolean;
}

/**
 * The fields of a schema, and the same value as JSON for users who prefer it. Put it into a `<form noValidate>` with
 * your own buttons.
 */
export function SchemaForm({ form, isDisabled = false }: SchemaFormProps): ReactElement {
  const { field, draft, json, problems } = form;
  const known = json === undefined ? fieldPaths(field, draft) : new Set(['']);
  return (
    <div ref={form.element}>
      <fieldset disabled={isDisabled} className="flex min-w-0 flex-col gap-3">
        <Unplaced problems={problems.filter(({ path }) => !known.has(path))} />
        {json === undefined ? (
          <FieldInput field={field} path="" isRequired draft={draft} onChange={form.setDraft} problems={problems} />
        ) : (
          <TextArea
            label="JSON"
            rows={8}
            spellCheck={false}
            className="font-mono text-xs"
            value={json}
            problem={problems.find(({ path }) => path === '')?.message}
            onChange={({ target }) => form.setJson(target.value)}
          />
        )}
        {field.shape.kind !== 'json' && <ModeSwitch form={form} />}
      </fieldset>
    </div>
  );
}

function ModeSwitch({ form }: { form: SchemaFormState }): ReactElement {
  const Icon = form.json === undefined ? Braces : ListTree;
  return (
    <div>
      <Button kind="ghost" className="-ml-2 px-2 text-xs" onClick={form.switchMode}>
        <Icon size={16} aria-hidden /> {form.json === undefined ? 'Write it as JSON' : 'Back to the fields'}
      </Button>
    </div>
  );
}

/** Problems that belong to no field. */
function Unplaced({ problems }: { problems: readonly Problem[] }): ReactElement | null {
  if (problems.length === 0) return null;
  return (
    <div role="alert" className="flex flex-col gap-1 text-sm text-bad">
      {problems.map(({ path, message }) => (
        <p key={`${path} ${message}`}>
          {path !== '' && <code className="font-mono text-xs">{withVisibleControls(path)}: </code>}
          {withVisibleControls(message)}
        </p>
      ))}
    </div>
  );
}
