import type { Tool } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { toolList } from '../../data/tools.ts';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { useListKeys } from '../../parts/keyboard/list-keys.ts';
import { NeedsScope, Requires } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { fieldClass } from '../../parts/ui/field.tsx';
import { ListHead } from '../../parts/ui/list-head.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { ToolEditor } from './tool-editor.tsx';
import { SOURCES, ToolMarks } from './tool-marks.tsx';

const route = getRouteApi('/tools');

export function ToolsPage(): ReactElement {
  const mayCreate = useMay('admin');
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="Tools"
      aside={
        mayCreate && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            <Plus size={16} aria-hidden /> New tool
          </Button>
        )
      }
      below={<Filter />}
    >
      <Requires scope="read" to="see the tools">
        <ToolList />
      </Requires>
      {isCreating && (
        <Dialog title="New tool" onClose={() => setCreating(false)}>
          <ToolEditor />
        </Dialog>
      )}
    </Page>
  );
}

/** The filter is in the address, so that it can be shared and survives going back. */
function Filter(): ReactElement {
  const { q = '', source = '' } = route.useSearch();
  const navigate = useNavigate({ from: '/tools' });
  const field = useRef<HTMLInputElement>(null);
  // The address sets the field only while the user is not typing: it updates later, and would undo letters that an input method composes.
  useEffect(() => {
    if (field.current !== null && field.current !== document.activeElement) field.current.value = q;
  }, [q]);
  useKeys({ '/': { label: 'Filter the tools', run: () => field.current?.focus() } });
  const set = (change: { q?: string; source?: string }): void => {
    const next = { q, source, ...change };
    void navigate({
      search: { ...(next.q === '' ? {} : { q: next.q }), ...(next.source === '' ? {} : { source: next.source }) },
      replace: true,
    });
  };
  return (
    <div className="flex flex-wrap gap-2">
      <input
        ref={field}
        type="search"
        aria-label="Filter the tools"
        placeholder="Name or description"
        defaultValue={q}
        onChange={({ target }) => set({ q: target.value })}
        className={`${fieldClass} min-h-8 flex-1 basis-48 wide:max-w-64`}
      />
      <select
        aria-label="Source"
        value={source}
        onChange={({ target }) => set({ source: target.value })}
        className={`${fieldClass} min-h-8 max-w-48`}
      >
        <option value="">Every source</option>
        {Object.entries(SOURCES).map(([name, word]) => (
          <option key={name} value={name}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

function ToolList(): ReactElement | null {
  const { q = '', source } = route.useSearch();
  const { data: tools, error, refetch } = useQuery(toolList);
  const list = useListKeys<HTMLUListElement>('tool');
  if (tools === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The tools could not be read." retry={() => void refetch()} />
    );
  const shown = tools
    .filter(
      (tool) =>
        (source === undefined || tool.source === source) &&
        `${tool.name} ${tool.description}`.toLowerCase().includes(q.toLowerCase()),
    )
    // Built-in tools come last: every gateway has them.
    .toSorted((a, b) => Number(a.source === 'built-in') - Number(b.source === 'built-in'));
  const hasOwn = tools.some((tool) => tool.source !== 'built-in');
  return (
    <>
      {!hasOwn && <NoToolsYet />}
      {shown.length === 0 ? (
        <EmptyState title="No tool matches.">
          <p>Change the filter, or choose all sources.</p>
        </EmptyState>
      ) : (
        <div className="rounded-card border border-line bg-surface">
          <ListHead columns={['Tool', 'From', 'What it does', 'Used by']} grid={GRID} />
          <ul ref={list} aria-label="Tools">
            {shown.map((tool) => (
              <ToolRow key={tool.id} tool={tool} />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function NoToolsYet(): ReactElement {
  const mayCreate = useMay('admin');
  return (
    <EmptyState title="Only the built-in tools so far.">
      <p>A tool is a name, a schema and an address that is called. Paste this one and change it:</p>
      {mayCreate ? (
        <div className="w-full rounded-card border border-line bg-surface p-4 text-text">
          <ToolEditor />
        </div>
      ) : (
        <NeedsScope scope="admin" to="create a tool" />
      )}
    </EmptyState>
  );
}

const GRID =
  'gap-x-4 wide:grid-cols-[minmax(0,1.2fr)_minmax(0,0.8fr)_minmax(0,2.4fr)_minmax(0,0.8fr)] wide:*:last:text-left';

function ToolRow({ tool }: { tool: Tool }): ReactElement {
  return (
    <li className={`grid gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0 ${GRID}`}>
      <div className="min-w-0">
        <Link to="/tools/$id" params={{ id: tool.id }} className="font-mono text-sm font-medium hover:underline">
          {withVisibleControls(tool.name)}
        </Link>
      </div>
      <p className="text-sm text-quiet">
        {SOURCES[tool.source]}
        {tool.definition !== undefined && ` ${tool.definition}`}
      </p>
      <div className="flex min-w-0 flex-col gap-1">
        <p className="line-clamp-2 text-sm">{withVisibleControls(tool.description)}</p>
        <ToolMarks tool={tool} />
      </div>
      <UsedBy tool={tool} />
    </li>
  );
}

export function UsedBy({ tool: { usedBy, source } }: { tool: Tool }): ReactElement {
  if (source === 'built-in') return <span className="text-sm text-quiet">every agent may have it</span>;
  if (usedBy.length === 0) return <span className="text-sm text-quiet">not used</span>;
  return (
    <ul className="flex flex-wrap content-start gap-x-2 text-sm">
      {usedBy.map(({ id, name }) => (
        <li key={id}>
          <Link to="/agents/$id" params={{ id }} className="link">
            <bdi>{withVisibleControls(name)}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}
