import type { Tool } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { changesBetween } from '../../parts/form/changes-between.ts';
import { readJson } from '../../parts/form/draft.ts';
import type { Problem } from '../../parts/form/path.ts';
import { problemsOf } from '../../parts/form/problems-of.ts';
import { forgetKept, useKept } from '../../parts/form/use-kept.ts';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextArea } from '../../parts/ui/field.tsx';

type ToolConfig = Readonly<Record<string, unknown>>;

/** Edits a tool's configuration as JSON. Without a tool, it starts a new one from an example. */
export function ToolEditor({ tool, onSaved }: { tool?: Tool; onSaved?: () => void }): ReactElement {
  const of = JSON.stringify(tool?.config ?? EXAMPLE, null, 2);
  const [{ text }, keep] = useKept(
    draftOf(tool),
    () => ({ of, text: of }),
    // Edits of another version would undo what was saved since.
    (kept) => kept.of === of,
  );
  const [unread, setUnread] = useState<readonly Problem[]>([]);
  const save = useSave(tool, onSaved);
  const problems = unread.length > 0 ? unread : problemsOf(save.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { value, problems: found } = readJson(text);
    setUnread(found);
    if (found.length === 0) save.mutate(value as ToolConfig);
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-3">
      <TextArea
        label="Configuration"
        hint="JSON. The url is called with the input; {{input.name}} is a part of the input, ${env.NAME} a secret of the gateway's environment."
        rows={18}
        spellCheck={false}
        className="font-mono text-xs"
        value={text}
        problem={problems.length === 0 ? undefined : 'The configuration has errors: see below.'}
        onChange={({ target }) => keep({ of, text: target.value })}
      />
      {problems.length > 0 && (
        <ul role="alert" className="flex flex-col gap-1 text-sm text-bad">
          {problems.map(({ path, message }) => (
            <li key={`${path}${message}`}>
              <code className="font-mono text-xs">{withVisibleControls(path)}</code> {withVisibleControls(message)}
            </li>
          ))}
        </ul>
      )}
      {save.error !== null && problems.length === 0 && <ErrorNote error={save.error} title="The tool was not saved." />}
      <div>
        <Button kind="primary" type="submit" disabled={save.isPending}>
          {tool === undefined ? 'Create tool' : 'Save tool'}
        </Button>
      </div>
    </form>
  );
}

function useSave(tool: Tool | undefined, onSaved: (() => void) | undefined) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (config: ToolConfig): Promise<Tool> =>
      tool === undefined
        ? client.tools.create(config as Parameters<typeof client.tools.create>[0])
        : client.tools.update(tool.id, changesBetween(tool.config ?? {}, config)),
    async onSuccess({ id }) {
      forgetKept(draftOf(tool));
      await queries.invalidateQueries({ queryKey: ['tools'] });
      onSaved?.();
      if (tool === undefined) await navigate({ to: '/tools/$id', params: { id } });
    },
  });
}

const draftOf = (tool: Tool | undefined): string => `tool.${tool?.id ?? 'new'}`;

const EXAMPLE: ToolConfig = {
  name: 'exchange_rate',
  description: 'The rate between two currencies today.',
  executionType: 'gateway',
  effects: 'none',
  inputSchema: {
    type: 'object',
    properties: {
      from: { type: 'string', description: 'Three letters, e.g. EUR.', maxLength: 3 },
      to: { type: 'string', description: 'Three letters, e.g. JPY.', maxLength: 3 },
    },
    required: ['from', 'to'],
    additionalProperties: false,
  },
  execution: {
    url: 'https://api.example.com/rates?from={{input.from}}&to={{input.to}}',
    method: 'GET',
  },
};
