import type { Agent, AgentConfig, AgentVersion } from '@lastcall/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { agentVersions } from '../../../data/agents.ts';
import { useMay } from '../../../parts/session/session.tsx';
import { JsonText } from '../../../parts/text/safe-text.tsx';
import { Button } from '../../../parts/ui/button.tsx';
import { Dialog } from '../../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { Section } from '../../../parts/ui/page.tsx';
import { Time } from '../../../parts/ui/time.tsx';
import { ConfigDiff } from './config-diff.tsx';

interface VersionListProps {
  readonly agent: Agent;
  readonly onRestore: (config: AgentConfig) => void;
}

/** Every configuration that the agent has had. */
export function VersionList({ agent, onRestore }: VersionListProps): ReactElement {
  const { data, error, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(agentVersions(agent.id));
  const [open, setOpen] = useState<AgentVersion | undefined>();
  const versions = data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Section title="Versions">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      <ul className="flex flex-col">
        {versions.map((one) => (
          <li key={one.version} className="flex min-h-9 items-center gap-4 border-b border-line last:border-b-0">
            <span className="w-12 font-medium">v{one.version}</span>
            <Time at={one.createdAt} />
            {one.version === agent.configVersion ? (
              <span className="text-xs text-quiet">in use</span>
            ) : (
              <Button kind="ghost" className="ml-auto" onClick={() => setOpen(one)}>
                View<span className="sr-only"> version {one.version}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <div>
          <Button onClick={() => void fetchNextPage()}>Show earlier ones</Button>
        </div>
      )}
      {open !== undefined && (
        <VersionDialog
          agent={agent}
          version={open}
          onClose={() => setOpen(undefined)}
          onRestore={() => {
            setOpen(undefined);
            onRestore(open.config);
          }}
        />
      )}
    </Section>
  );
}

interface VersionDialogProps {
  readonly agent: Agent;
  readonly version: AgentVersion;
  readonly onClose: () => void;
  readonly onRestore: () => void;
}

function VersionDialog({ agent, version, onClose, onRestore }: VersionDialogProps): ReactElement {
  const mayWrite = useMay('write');
  return (
    <Dialog title={`Version ${version.version}`} onClose={onClose}>
      <div className="flex flex-col gap-3">
        <p className="text-sm text-quiet">Changes since then, up to version {agent.configVersion}:</p>
        <ConfigDiff before={version.config} after={agent.config} />
        <details>
          <summary className="text-sm">The whole of version {version.version}</summary>
          <JsonText value={version.config} label={`Version ${version.version}`} />
        </details>
        {mayWrite && (
          <div className="flex justify-end">
            <Button kind="primary" onClick={onRestore}>
              Restore as v{agent.configVersion + 1} …
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}
