import type { McpServer, McpTool } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { heldTools, mcpServers } from '../../data/settings.ts';
import { NeedsScope, Requires } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { Button, buttonClass } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { LineDiff } from '../../parts/ui/line-diff.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';

export function McpTab(): ReactElement {
  return (
    <Requires scope="read" to="see the MCP servers">
      <HeldTools />
      <Servers />
    </Requires>
  );
}

function Servers(): ReactElement | null {
  const { data: servers, error, refetch } = useQuery(mcpServers);
  if (servers === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  if (servers.length === 0)
    return (
      <EmptyState title="No MCP server is in use.">
        <p>
          An agent names its servers in its configuration, under <code>mcp.servers</code>. Those that agents used in the
          last minutes are shown here.
        </p>
      </EmptyState>
    );
  return (
    <Section title="Servers">
      <ul aria-label="MCP servers" className="flex flex-col">
        {servers.map((server) => (
          <ServerRow key={server.name} server={server} />
        ))}
      </ul>
    </Section>
  );
}

const STATES = {
  up: { word: 'up', colour: 'text-ok' },
  down: { word: 'down', colour: 'text-bad' },
  connecting: { word: 'connecting', colour: 'text-wait' },
} as const;

function ServerRow({ server }: { server: McpServer }): ReactElement {
  const { word, colour } = STATES[server.status];
  return (
    <li className="flex flex-col gap-1 border-b border-line py-2 last:border-b-0">
      <p className="flex flex-wrap items-baseline gap-x-4">
        <span className="font-medium">{withVisibleControls(server.name)}</span>
        <span className={`text-sm ${colour}`}>{word}</span>
        <span className="text-xs text-quiet">
          {server.transport}, {server.tools.length === 1 ? '1 tool' : `${server.tools.length} tools`}
        </span>
      </p>
      {server.problem !== undefined && <SafeText text={server.problem} className="text-sm text-bad" />}
      {server.authorizationUrl !== undefined && <Authorise url={server.authorizationUrl} />}
      {server.tools.length > 0 && (
        <p className="font-mono text-xs text-quiet">{server.tools.map(withVisibleControls).join(', ')}</p>
      )}
      {server.unusable.map((entry) => (
        <p key={entry} className="text-xs text-quiet">
          Left out: {withVisibleControls(entry)}
        </p>
      ))}
    </li>
  );
}

/** A link to the authorization server. The MCP server named the address, so only a web address becomes a link. */
function Authorise({ url }: { url: string }): ReactElement | null {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return null;
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer" className={buttonClass()}>
        Authorise at {new URL(url).host}
      </a>
    </p>
  );
}

function HeldTools(): ReactElement | null {
  const { data: tools = [] } = useQuery(heldTools);
  const [open, setOpen] = useState<McpTool | undefined>();
  const mayWrite = useMay('write');
  if (tools.length === 0) return null;
  return (
    <Section title="Changed tools, held back">
      <p className="text-quiet">
        A server changed these tools after they had been approved. No agent has them until a person reads the change and
        approves it.
      </p>
      <ul aria-label="Held tools" className="flex flex-col">
        {tools.map((tool) => (
          <li
            key={tool.id}
            className="flex min-h-9 flex-wrap items-center gap-x-4 border-b border-line last:border-b-0"
          >
            <span className="font-mono text-xs">
              {withVisibleControls(tool.server)}: {withVisibleControls(tool.name)}
            </span>
            <span className="min-w-0 flex-1 text-xs text-quiet">
              since <Time at={tool.held?.since ?? tool.approvedAt} />
            </span>
            <Button onClick={() => setOpen(tool)}>
              Review<span className="sr-only"> {tool.name}</span>
            </Button>
          </li>
        ))}
      </ul>
      {!mayWrite && <NeedsScope scope="write" to="approve a change" />}
      {open !== undefined && <ApproveTool tool={open} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}

/** The approval is for the definition that was read, so its fingerprint is sent along. */
function ApproveTool({ tool, onClose }: { tool: McpTool; onClose: () => void }): ReactElement {
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={`What changed in ${tool.name}`}
      action="Approve the change"
      onClose={onClose}
      onConfirm={async () => {
        await client.mcp.approve(tool.id, tool.held?.fingerprint ?? '');
        await queries.invalidateQueries({ queryKey: ['mcp'] });
      }}
    >
      <LineDiff
        label="The change"
        before={JSON.stringify(tool.definition, null, 2)}
        after={JSON.stringify(tool.held?.definition, null, 2)}
      />
      <p className="text-sm text-quiet">Read descriptions with care: agents read them too, and follow them.</p>
    </ConfirmDialog>
  );
}
