import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { gatewayStatus } from '../../../data/status.ts';
import { DefinitionField } from '../../../parts/agent/definition-field.tsx';
import { ModelField } from '../../../parts/agent/model-field.tsx';
import { ToolsField } from '../../../parts/agent/tools-field.tsx';
import type { Problem } from '../../../parts/form/path.ts';
import { SelectField, TextArea, TextField } from '../../../parts/ui/field.tsx';
import { type ConfigDraft, LIMITS, SPEND_LIMITS } from './config-draft.ts';

interface ConfigFieldsProps {
  readonly draft: ConfigDraft;
  readonly onChange: (draft: ConfigDraft) => void;
  readonly problems: readonly Problem[];
}

/** The fields that most people change. The rest is edited as JSON. */
export function ConfigFields({ draft, onChange, problems }: ConfigFieldsProps): ReactElement {
  const set = (change: Partial<ConfigDraft>): void => onChange({ ...draft, ...change });
  const at = (path: string): string | undefined => {
    const found = problems.find((one) => one.path === path)?.message;
    return found === undefined ? undefined : withVisibleControls(found);
  };
  return (
    <div className="flex flex-col gap-4">
      <TextField
        label="Name"
        value={draft.name}
        problem={at('name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextField
        label="Description"
        isOptional
        hint="For people and for other agents."
        value={draft.description}
        problem={at('description')}
        onChange={({ target }) => set({ description: target.value })}
      />
      <DefinitionField
        definition={draft.definition}
        onChange={(definition) => set({ definition })}
        problem={at('definition')}
      />
      <TextArea
        label="Instructions"
        isOptional={draft.definition !== undefined}
        rows={8}
        className="field-sizing-content max-h-[60vh] min-h-40"
        value={draft.instructions}
        problem={at('instructions')}
        onChange={({ target }) => set({ instructions: target.value })}
      />
      <ModelField model={draft.model} onChange={(model) => set({ model })} problem={at('model')} />
      <SelectField
        label="Replies"
        className="max-w-96"
        hint="What becomes of the text with which the agent ends a run that a person’s message began."
        value={draft.replies ?? 'text'}
        problem={at('replies')}
        onChange={({ target: { value } }) => set({ replies: value === 'tools' ? value : undefined })}
      >
        <option value="text">The text is posted</option>
        <option value="tools">Only send_message posts; the text is private</option>
      </SelectField>
      <ToolsField
        tools={draft.tools}
        onChange={(tools) => set({ tools })}
        problem={problems.find(({ path }) => path.startsWith('tools'))?.message}
      />
      <LimitFields limits={draft.limits} onChange={(limits) => set({ limits })} at={at} />
      <Rest rest={draft.rest} />
    </div>
  );
}

interface LimitFieldsProps {
  readonly limits: ConfigDraft['limits'];
  readonly onChange: (limits: ConfigDraft['limits']) => void;
  readonly at: (path: string) => string | undefined;
}

function LimitFields({ limits, onChange, at }: LimitFieldsProps): ReactElement {
  const { data: status } = useQuery(gatewayStatus);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Limits</legend>
      <p className="text-xs text-quiet">If a field is empty, the gateway’s default, shown in it, applies.</p>
      <div className="grid grid-cols-1 gap-3 min-[30rem]:grid-cols-2 wide:grid-cols-3">
        {LIMITS.map(({ key, label, unit }) => (
          <TextField
            key={key}
            label={label}
            hint={unit}
            inputMode="numeric"
            placeholder={status?.agentLimits?.[key]?.toLocaleString('en')}
            value={limits[key] ?? ''}
            problem={at(`limits.${key}`)}
            onChange={({ target }) => onChange({ ...limits, [key]: target.value })}
          />
        ))}
        {SPEND_LIMITS.map(({ key, label, unit }) => (
          <TextField
            key={key}
            label={label}
            hint={unit}
            inputMode="decimal"
            placeholder={status?.agentLimits?.spend?.[fieldOf(key)]?.toLocaleString('en') ?? 'no limit'}
            value={limits[key] ?? ''}
            problem={at(`limits.${key}`)}
            onChange={({ target }) => onChange({ ...limits, [key]: target.value })}
          />
        ))}
      </div>
    </fieldset>
  );
}

type SpendKey = (typeof SPEND_LIMITS)[number]['key'];

function fieldOf<K extends SpendKey>(key: K): K extends `spend.${infer Field}` ? Field : never {
  return key.slice('spend.'.length) as never;
}

function Rest({ rest }: Pick<ConfigDraft, 'rest'>): ReactElement | null {
  const names = Object.keys(rest);
  if (names.length === 0) return null;
  return (
    <p className="text-xs text-quiet">
      Also set, and left unchanged: {names.map(withVisibleControls).join(', ')}. Change it as JSON.
    </p>
  );
}
