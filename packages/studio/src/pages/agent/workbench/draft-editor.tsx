import type { Agent } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { agentSpaces } from '../../../data/agents.ts';
import { useIsMachine } from '../../../data/definitions.ts';
import { ModelField } from '../../../parts/agent/model-field.tsx';
import { ToolsField } from '../../../parts/agent/tools-field.tsx';
import { changesBetween } from '../../../parts/form/changes-between.ts';
import { readable } from '../../../parts/form/field.ts';
import { Button } from '../../../parts/ui/button.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { TextArea, TextField } from '../../../parts/ui/field.tsx';
import type { ConfigDraft } from '../config/config-draft.ts';
import { ConflictNote } from '../config/conflict-note.tsx';
import { FromFile } from '../config/from-file.tsx';
import { Review } from '../config/review.tsx';
import { TryTasks } from '../config/try-tasks.tsx';
import type { ConfigEditor } from '../config/use-config-editor.ts';
import { NodesField } from './nodes-field.tsx';
import type { Workbench } from './use-workbench.ts';

/** What is tried: instructions, model, settings and tools. The rest of the configuration has its own tab. */
export function DraftEditor({ bench }: { bench: Workbench }): ReactElement {
  const { agent, editor } = bench;
  const isMachine = useIsMachine(agent);
  const [isReviewing, setReviewing] = useState(false);
  const { draft, setDraft, problems } = editor;
  const set = (change: Partial<ConfigDraft>): void => setDraft({ ...draft, ...change });
  const at = (path: string): string | undefined => {
    const found = problems.find((one) => one.path.startsWith(path))?.message;
    return found === undefined ? undefined : withVisibleControls(found);
  };
  return (
    <div className="flex min-h-full flex-col">
      <div className="flex flex-1 flex-col gap-4 p-4">
        <ConflictNote editor={editor} />
        <TextArea
          label={isMachine ? 'Instructions, for all nodes' : 'Instructions'}
          isOptional={draft.definition !== undefined}
          rows={isMachine ? 3 : 8}
          className={`field-sizing-content max-h-[60vh] ${isMachine ? 'min-h-20' : 'min-h-40'}`}
          value={draft.instructions}
          problem={at('instructions')}
          onChange={({ target }) => set({ instructions: target.value })}
        />
        {isMachine && <NodesField bench={bench} />}
        <ModelField model={draft.model} onChange={(model) => set({ model })} problem={at('model')} />
        <SettingsFields draft={draft} onChange={setDraft} at={at} />
        <ToolsField tools={draft.tools} onChange={(tools) => set({ tools })} problem={at('tools')} />
        <p className="text-xs text-quiet">
          Everything else is under{' '}
          <Link to="/agents/$id" params={{ id: agent.id }} search={{ tab: 'config' }} className="link">
            Configuration
          </Link>
          .
        </p>
        <InNoSpace agent={agent} />
        {agent.source === 'file' && <FromFile />}
        {editor.error !== undefined && problems.length === 0 && (
          <ErrorNote error={editor.error} title="The change was not saved." />
        )}
      </div>
      <SaveBar
        agentId={agent.id}
        editor={editor}
        nodes={Object.keys(bench.nodes)}
        onReview={() => editor.check() && setReviewing(true)}
      />
      {isReviewing && <Review editor={editor} onClose={() => setReviewing(false)} />}
    </div>
  );
}

/** The next step with an agent that was just created. */
function InNoSpace({ agent }: { agent: Agent }): ReactElement | null {
  const { data: spaces } = useQuery(agentSpaces(agent.entityId));
  if (spaces === undefined || spaces.length > 0) return null;
  return (
    <p className="text-xs text-quiet">
      It is in no space yet: here you can talk to it, and others cannot.{' '}
      <Link to="/agents/$id" params={{ id: agent.id }} search={{}} className="link">
        Add it to a space
      </Link>
    </p>
  );
}

interface SaveBarProps {
  readonly agentId: string;
  readonly editor: ConfigEditor;
  /** The changed nodes of a machine. */
  readonly nodes: readonly string[];
  readonly onReview: () => void;
}

function SaveBar({ agentId, editor, nodes, onReview }: SaveBarProps): ReactElement {
  const { base, after, isChanged, conflict } = editor;
  const fields = Object.keys(changesBetween(base.config, after ?? {})).map((name) => readable(name).toLowerCase());
  const changed = [...fields, ...nodes.map((name) => `node ${withVisibleControls(name)}`)];
  return (
    <div className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t border-line bg-surface px-4 py-3">
      <Button kind="primary" disabled={!isChanged || conflict !== undefined} onClick={onReview}>
        Save as v{base.version + 1} …
      </Button>
      {isChanged && after !== undefined && <TryTasks agentId={agentId} draft={after} />}
      {isChanged && (
        <Button kind="ghost" onClick={editor.discard}>
          Discard
        </Button>
      )}
      <span role="status" className="basis-full text-xs text-quiet">
        {changed.length > 0
          ? `Not saved: ${changed.join(', ')}. Only this chat uses it.`
          : `Version ${base.version}, as saved. Change something, and send again.`}
      </span>
    </div>
  );
}

const SETTINGS = [
  { key: 'temperature', label: 'Temperature', step: '0.1' },
  { key: 'topP', label: 'Top P', step: '0.05' },
  { key: 'maxOutputTokens', label: 'Output tokens', step: '1' },
] as const;

interface SettingsFieldsProps {
  readonly draft: ConfigDraft;
  readonly onChange: (draft: ConfigDraft) => void;
  readonly at: (path: string) => string | undefined;
}

/** How the model is asked. Settings that are not drawn stay as they are. */
function SettingsFields({ draft, onChange, at }: SettingsFieldsProps): ReactElement {
  const settings = (draft.rest.settings ?? {}) as Readonly<Record<string, unknown>>;
  const set = (key: string, text: string): void => {
    const { [key]: _, ...others } = settings;
    const next = text === '' ? others : { ...others, [key]: Number(text) };
    const { settings: _before, ...rest } = draft.rest;
    onChange({ ...draft, rest: Object.keys(next).length === 0 ? rest : { ...rest, settings: next } });
  };
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Settings of the model</legend>
      <div className="grid grid-cols-3 gap-3">
        {SETTINGS.map(({ key, label, step }) => (
          <TextField
            key={key}
            type="number"
            label={label}
            min="0"
            step={step}
            placeholder="default"
            value={settings[key] === undefined ? '' : String(settings[key])}
            problem={at(`settings.${key}`)}
            onChange={({ target }) => set(key, target.value)}
          />
        ))}
      </div>
    </fieldset>
  );
}
