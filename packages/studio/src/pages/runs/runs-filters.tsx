import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { type ReactElement, useEffect, useRef } from 'react';
import { agentNames } from '../../data/runs.ts';
import type { RunsSearch } from '../../data/search.ts';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { RUN_STATUSES } from '../../parts/run/status-mark.tsx';
import { STOP_REASONS } from '../../parts/run/stop-sentence.ts';
import { OUTCOMES } from '../../parts/ui/outcome.tsx';
import { CALL_STATUSES } from './runs-filter.ts';

/** Chooses which runs are listed. All of it is in the address. */
export function RunsFilters(): ReactElement {
  const search = useSearch({ from: '/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const { data: names } = useQuery(agentNames);
  const set = (change: { readonly [N in keyof RunsSearch]?: string }): void =>
    void navigate({ to: '.', search: (before: RunsSearch) => withoutEmpty({ ...before, ...change }), replace: true });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Choice
        label="Agent"
        value={search.agent}
        onChange={(agent) => set({ agent })}
        options={Object.fromEntries(names ?? [])}
      />
      <Choice label="Status" value={search.status} onChange={(status) => set({ status })} options={RUN_STATUSES} />
      <Choice label="Stop" value={search.stop} onChange={(stop) => set({ stop })} options={STOP_REASONS} />
      <Choice label="Call" value={search.outcome} onChange={(outcome) => set({ outcome })} options={CALLS} />
      <Choice label="Since" value={search.since} onChange={(since) => set({ since })} options={PERIODS} />
      <ToolField value={search.tool ?? ''} onChange={(tool) => set({ tool })} />
      {isFiltered && (
        <Link to="/runs" search={{}} className="text-sm link">
          Show all
        </Link>
      )}
    </search>
  );
}

const CALLS = Object.fromEntries(CALL_STATUSES.map((status) => [status, OUTCOMES[status].word]));
const PERIODS = { hour: 'the last hour', day: 'the last day', week: 'the last week', month: 'the last month' } as const;

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Choice({ label, value = '', options, onChange }: ChoiceProps): ReactElement {
  return (
    <select
      aria-label={label}
      value={value in options ? value : ''}
      onChange={({ target }) => onChange(target.value)}
      className={`${fieldClass} max-w-36 ${value in options ? 'border-text font-medium text-text' : 'text-quiet'}`}
    >
      <option value="">{label}: any</option>
      {Object.entries(options).map(([name, word]) => (
        <option key={name} value={name}>
          {label}: {word}
        </option>
      ))}
    </select>
  );
}

function ToolField({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactElement {
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': { label: 'Find runs by a tool', run: () => field.current?.focus() } });
  useEffect(() => {
    if (field.current !== null && field.current !== document.activeElement) field.current.value = value;
  }, [value]);
  return (
    <form
      className="relative"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(field.current?.value.trim() ?? '');
      }}
    >
      <Search size={16} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-quiet" />
      <input
        ref={field}
        type="search"
        aria-label="Tool"
        placeholder="Tool, then Enter  /"
        defaultValue={value}
        onBlur={({ target }) => target.value.trim() !== value && onChange(target.value.trim())}
        className={`${fieldClass} w-44 pl-8 placeholder:text-quiet`}
      />
    </form>
  );
}

const fieldClass = 'min-h-8 rounded border border-quiet bg-surface px-2 text-sm pointer-coarse:min-h-11';

function withoutEmpty(search: { readonly [name: string]: string | undefined }): RunsSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined && value !== ''));
}
