import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent, ReactElement } from 'react';
import { AGENT_LISTS } from '../../data/agents.ts';
import { client } from '../../data/client.ts';
import { spaceNames } from '../../data/space-names.ts';
import { DefinitionField } from '../../parts/agent/definition-field.tsx';
import { ModelField } from '../../parts/agent/model-field.tsx';
import { ToolsField } from '../../parts/agent/tools-field.tsx';
import { problemsOf } from '../../parts/form/problems-of.ts';
import { forgetKept, useKept } from '../../parts/form/use-kept.ts';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextArea, TextField } from '../../parts/ui/field.tsx';

interface NewAgentFormProps {
  readonly example?: { readonly name: string; readonly instructions: string };
}

interface Draft {
  readonly name: string;
  readonly instructions: string;
  readonly definition?: string | undefined;
  readonly model?: string | undefined;
  readonly tools?: readonly unknown[];
  readonly spaceIds?: readonly string[];
}

const DRAFT = 'new-agent';

/** The fields that a new agent needs. Everything else has a default, and can be changed on its page. */
export function NewAgentForm({ example }: NewAgentFormProps): ReactElement {
  const [draft, setDraft] = useKept<Draft>(DRAFT, () => ({ name: '', instructions: '', ...example }));
  const { name, instructions, definition, model, tools = [], spaceIds = [] } = draft;
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      client.agents.create({
        name: name.trim(),
        ...(definition === undefined ? {} : { definition }),
        ...(definition !== undefined && instructions.trim() === '' ? {} : { instructions }),
        ...(model === undefined ? {} : { model }),
        tools: tools as readonly string[],
        spaceIds: [...spaceIds],
      }),
    async onSuccess({ id }) {
      forgetKept(DRAFT);
      await Promise.all(AGENT_LISTS.map((queryKey) => queries.invalidateQueries({ queryKey })));
      await navigate({ to: '/agents/$id', params: { id }, search: { tab: 'workbench' } });
    },
  });
  const problems = problemsOf(create.error);
  const at = (path: string): string | undefined => problems.find((one) => one.path.startsWith(path))?.message;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-3">
      <TextField
        label="Name"
        value={name}
        problem={at('name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <DefinitionField
        definition={definition}
        onChange={(next) => set({ definition: next })}
        problem={at('definition')}
      />
      <TextArea
        label="Instructions"
        isOptional={definition !== undefined}
        hint="What it is for, and how it behaves."
        rows={5}
        value={instructions}
        problem={at('instructions')}
        onChange={({ target }) => set({ instructions: target.value })}
      />
      <ModelField model={model} onChange={(next) => set({ model: next })} problem={at('model')} />
      <ToolsField tools={tools} onChange={(next) => set({ tools: next })} problem={at('tools')} />
      <SpacesField chosen={spaceIds} onChange={(next) => set({ spaceIds: next })} />
      {create.error !== null && <ErrorNote error={create.error} title="The agent was not created." />}
      <div>
        <Button kind="primary" type="submit" disabled={create.isPending || name.trim() === ''}>
          Create agent
        </Button>
      </div>
    </form>
  );
}

interface SpacesFieldProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function SpacesField({ chosen, onChange }: SpacesFieldProps): ReactElement | null {
  const { data: spaces = [] } = useQuery(spaceNames);
  if (spaces.length === 0) return null;
  return (
    <fieldset>
      <legend className="text-sm font-medium">Spaces</legend>
      <p className="text-xs text-quiet">It reads the messages there, and answers.</p>
      <div className="flex flex-wrap gap-x-4">
        {spaces.map(({ id, name }) => (
          <label key={id} className="flex min-h-8 items-center gap-2">
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) => onChange(target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))}
            />
            <bdi>{withVisibleControls(name)}</bdi>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
