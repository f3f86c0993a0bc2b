import type { Agent, AgentFile } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { agentFile, agentFiles } from '../../data/agents.ts';
import { JsonText } from '../../parts/text/safe-text.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Time } from '../../parts/ui/time.tsx';

/** The files that the agent's tools read and write. */
export function FilesTab({ agent }: { agent: Agent }): ReactElement | null {
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(agentFiles(agent.id));
  if (data === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  const files = data.pages.flatMap(({ items }) => items);
  if (files.length === 0)
    return (
      <EmptyState title="No files.">
        <p>Tools of an agent whose definition has “files: true” can write files that last.</p>
      </EmptyState>
    );
  return (
    <>
      <ul aria-label="Files" className="rounded-card border border-line bg-surface">
        {files.map((file) => (
          <FileRow key={file.path} agentId={agent.id} file={file} />
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" className="self-start link" onClick={() => void fetchNextPage()}>
          Show more files
        </button>
      )}
    </>
  );
}

interface FileRowProps {
  readonly agentId: string;
  readonly file: AgentFile;
}

/** The content is read when it is opened. */
function FileRow({ agentId, file }: FileRowProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { path, size, changedAt, changedBy } = file;
  return (
    <li className="border-b border-line px-4 py-2 last:border-b-0">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="flex flex-wrap items-baseline gap-x-4">
          <bdi className="min-w-0 flex-1 basis-64 font-mono text-xs break-all">{withVisibleControls(path)}</bdi>
          <span className="text-xs text-quiet">{size.toLocaleString()} bytes</span>
          <Time at={changedAt} />
        </summary>
        {'runId' in changedBy && (
          <p className="text-xs">
            <Link to="/runs/$id" params={{ id: changedBy.runId }} className="link">
              The run that wrote it
            </Link>
          </p>
        )}
        {isOpen && <FileText agentId={agentId} file={file} />}
      </details>
    </li>
  );
}

function FileText({ agentId, file }: FileRowProps): ReactElement | null {
  const { data, error, refetch } = useQuery(agentFile(agentId, file));
  if (error !== null) return <ErrorNote error={error} retry={() => void refetch()} />;
  return data === undefined ? null : <JsonText value={data.content} label={`Content of ${file.path}`} />;
}
