import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { toolList } from '../../data/tools.ts';
import { fieldClass } from '../ui/field.tsx';

interface ToolsFieldProps {
  /** Names of registered tools, and definitions of tools that only this agent has. */
  readonly tools: readonly unknown[];
  readonly onChange: (tools: readonly unknown[]) => void;
  readonly problem?: string | undefined;
}

/** The tools of an agent. Its own definitions are left unchanged: they are edited as JSON. */
export function ToolsField({ tools, onChange, problem }: ToolsFieldProps): ReactElement {
  const { data: registry = [] } = useQuery(toolList);
  const [filter, setFilter] = useState('');
  const choices = registry.filter(({ source }) => source === 'file' || source === 'api');
  const unknown = tools.filter(
    (one): one is string => typeof one === 'string' && !choices.some(({ id, name }) => one === id || one === name),
  );
  const own = tools.filter((one) => typeof one !== 'string') as readonly { readonly name: string }[];
  const shown = choices.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const toggle = (names: readonly string[], isOn: boolean): void =>
    onChange(isOn ? [...tools, names[0]] : tools.filter((one) => !names.includes(one as string)));
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="text-sm font-medium">Tools</legend>
      {problem !== undefined && <p className="text-xs text-bad">{withVisibleControls(problem)}</p>}
      {choices.length > 8 && (
        <input
          type="search"
          aria-label="Filter the tools"
          placeholder="Filter"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
          className={`${fieldClass} min-h-8 max-w-64`}
        />
      )}
      <div className="grid max-h-80 grid-cols-[repeat(auto-fill,minmax(min(100%,20rem),1fr))] content-start gap-x-4 overflow-y-auto">
        {shown.map(({ id, name, description, effects }) => (
          <ToolChoice
            key={id}
            name={name}
            note={effects === 'external' ? `${description} Acts outside.` : description}
            isOn={tools.includes(name) || tools.includes(id)}
            onToggle={(isOn) => toggle([name, id], isOn)}
          />
        ))}
        {unknown.map((name) => (
          <ToolChoice key={name} name={name} note="Not in the registry." isOn onToggle={() => toggle([name], false)} />
        ))}
      </div>
      {choices.length === 0 && (
        <p className="text-xs text-quiet">
          There are no tools to choose from yet.{' '}
          <Link to="/tools" className="link">
            Create one
          </Link>
        </p>
      )}
      {own.length > 0 && (
        <p className="text-xs text-quiet">
          Plus its own tools, edited as JSON: {own.map(({ name }) => withVisibleControls(name)).join(', ')}
        </p>
      )}
    </fieldset>
  );
}

interface ToolChoiceProps {
  readonly name: string;
  readonly note: string;
  readonly isOn: boolean;
  readonly onToggle: (isOn: boolean) => void;
}

function ToolChoice({ name, note, isOn, onToggle }: ToolChoiceProps): ReactElement {
  return (
    <label className="flex min-h-7 shrink-0 items-start gap-2 rounded px-1 py-1 hover:bg-raised">
      <input
        type="checkbox"
        className="mt-1 shrink-0"
        checked={isOn}
        onChange={({ target }) => onToggle(target.checked)}
      />
      <span className="min-w-0">
        <span className="font-mono text-xs">{withVisibleControls(name)}</span>
        <span className="block text-xs text-quiet">{withVisibleControls(note)}</span>
      </span>
    </label>
  );
}
