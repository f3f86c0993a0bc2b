import type { TimelineRow } from '@lastcall/client/timeline';
import { Search } from 'lucide-react';
import { type ReactElement, useEffect, useRef } from 'react';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import type { RunState } from '../../parts/run/timeline/run-state.ts';
import { countsOf, ONLY, type Only } from './row-filter.ts';
import { choiceClass, StateLink } from './state-link.tsx';

interface ControlsProps {
  readonly state: RunState;
  readonly rows: readonly TimelineRow[];
  readonly only: Only | undefined;
  readonly isSeen: boolean;
  /** True if the task has an answer to read. */
  readonly hasAnswer: boolean;
}

/** Chooses which part of the run is shown. */
export function TimelineControls({ state, rows, only, isSeen, hasAnswer }: ControlsProps): ReactElement {
  return (
    <div className="flex shrink-0 items-center gap-x-4 gap-y-1 overflow-x-auto border-b border-line bg-surface px-4 wide:px-6 py-1.5 min-[40rem]:flex-wrap">
      <nav aria-label="View" className="flex gap-1">
        <StateLink
          state={state}
          change={{ view: undefined }}
          isCurrent={state.search.view === undefined}
          className={choiceClass}
        >
          As it happened
        </StateLink>
        <StateLink state={state} change={{ view: 'seen' }} isCurrent={isSeen} className={choiceClass}>
          As the model saw it
        </StateLink>
        {hasAnswer && (
          <StateLink
            state={state}
            change={{ view: 'answer', call: undefined }}
            isCurrent={state.search.view === 'answer'}
            className={choiceClass}
          >
            The answer
          </StateLink>
        )}
      </nav>
      {!isSeen && state.search.view !== 'answer' && <Filters state={state} rows={rows} only={only} />}
    </div>
  );
}

function Filters({ state, rows, only }: Omit<ControlsProps, 'isSeen' | 'hasAnswer'>): ReactElement {
  const counts = countsOf(rows);
  return (
    <>
      <nav aria-label="Calls shown" className="flex gap-1">
        <StateLink state={state} change={{ only: undefined }} isCurrent={only === undefined} className={choiceClass}>
          All
        </StateLink>
        {ONLY.map((one) => (
          <StateLink key={one} state={state} change={{ only: one }} isCurrent={only === one} className={choiceClass}>
            {WORDS[one]}{' '}
            {counts[one] > 0 && <span className="text-xs tabular-nums">{counts[one].toLocaleString()}</span>}
          </StateLink>
        ))}
      </nav>
      <SearchBox state={state} />
      <label className="ml-auto inline-flex min-h-7 shrink-0 items-center gap-1.5 text-sm whitespace-nowrap text-quiet">
        <input
          type="checkbox"
          className="accent-text"
          checked={state.search.fold !== 'no'}
          onChange={({ target }) => state.set({ fold: target.checked ? undefined : 'no' }, { replace: true })}
        />
        fold idle
      </label>
    </>
  );
}

const WORDS: Readonly<Record<Only, string>> = {
  errors: 'Errors',
  waiting: 'Waiting',
  changes: 'Changes',
  'never-ran': 'Never ran',
};

function SearchBox({ state }: { state: RunState }): ReactElement {
  const field = useRef<HTMLInputElement>(null);
  const { q = '' } = state.search;
  // The address sets the field only while the user is not typing: it updates later, and would remove letters.
  useEffect(() => {
    if (field.current !== null && field.current !== document.activeElement) field.current.value = q;
  }, [q]);
  useKeys({ '/': { label: 'Search the calls', run: () => field.current?.focus() } });
  return (
    <span className="relative min-w-40 flex-1 shrink-0 wide:max-w-64">
      <Search size={16} aria-hidden className="absolute top-1/2 left-2 -translate-y-1/2 text-quiet" />
      <input
        ref={field}
        type="search"
        aria-label="Search the calls"
        placeholder="Search  /"
        defaultValue={q}
        onChange={({ target }) => state.set({ q: target.value === '' ? undefined : target.value }, { replace: true })}
        onKeyDown={({ key }) => (key === 'Escape' || key === 'Enter') && field.current?.blur()}
        className="min-h-7 w-full rounded border border-quiet bg-surface pr-2 pl-8 text-sm placeholder:text-quiet pointer-coarse:min-h-11"
      />
    </span>
  );
}
