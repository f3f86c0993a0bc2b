import type { Agent, Grant } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { agentGrants } from '../../data/grants.ts';
import { inWords } from '../../parts/cards/call-shape.ts';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';

/** What the agent may call without asking, who allowed it, and what was allowed before. */
export function GrantsTab({ agent }: { agent: Agent }): ReactElement {
  const [revoked, setRevoked] = useState<Grant>();
  return (
    <>
      <GrantList agent={agent} status="active" onRevoke={setRevoked} />
      <GrantList agent={agent} status="ended" />
      {revoked !== undefined && <RevokeGrant grant={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

interface GrantListProps {
  readonly agent: Agent;
  readonly status: Grant['status'];
  readonly onRevoke?: (grant: Grant) => void;
}

function GrantList({ agent, status, onRevoke }: GrantListProps): ReactElement | null {
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(agentGrants(agent.id, status));
  if (data === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  const grants = data.pages.flatMap(({ items }) => items);
  if (grants.length === 0 && status === 'ended') return null;
  if (grants.length === 0)
    return (
      <EmptyState title="No grants.">
        <p>Every call that needs approval waits for it. To allow later calls too, choose “Allow more …” on a card.</p>
      </EmptyState>
    );
  const title = status === 'active' ? 'Allowed now' : 'Ended';
  return (
    <Section title={title}>
      <ul aria-label={title} className="rounded-card border border-line bg-surface">
        {grants.map((grant) => (
          <GrantRow key={grant.id} grant={grant} onRevoke={onRevoke && (() => onRevoke(grant))} />
        ))}
      </ul>
      {hasNextPage && <Button onClick={() => void fetchNextPage()}>Show more</Button>}
    </Section>
  );
}

function GrantRow({ grant, onRevoke }: { grant: Grant; onRevoke: (() => void) | undefined }): ReactElement {
  const mayWrite = useMay('write');
  const { toolName, conditions, uses, lastUsedAt, callId, grantedByName = 'an operator', createdAt, reach } = grant;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-b-0">
      <div className="flex min-w-0 flex-1 basis-60 flex-col gap-1">
        <p>
          <code className="font-mono text-sm">{withVisibleControls(toolName)}</code> <Lasts grant={grant} />
        </p>
        <p className="text-sm break-words">{withVisibleControls(conditionsInWords(conditions))}</p>
        <p className="flex flex-wrap gap-x-3 text-xs text-quiet">
          <span>
            given by <bdi>{withVisibleControls(grantedByName)}</bdi>, <Time at={createdAt} />, with{' '}
            <Link to="/calls/$id" params={{ id: callId }} className="link">
              a call
            </Link>
          </span>
          <span>{reach === 'agent' ? 'all calls of the agent' : 'only in the same space or conversation'}</span>
          <span>
            {uses === 0 ? 'not used' : `used ${uses === 1 ? 'once' : `${uses} times`}, last `}
            {lastUsedAt !== undefined && <Time at={lastUsedAt} />}
          </span>
        </p>
      </div>
      {mayWrite && onRevoke !== undefined && (
        <Button kind="danger" onClick={onRevoke}>
          Revoke<span className="sr-only"> the grant for {toolName}</span>
        </Button>
      )}
    </li>
  );
}

function Lasts({ grant: { for: length, expiresAt, status, endReason, endedAt } }: { grant: Grant }): ReactElement {
  if (status === 'ended')
    return (
      <>
        {endReason === undefined ? 'has ended' : ENDED[endReason]}
        {endedAt !== undefined && (
          <>
            , <Time at={endedAt} />
          </>
        )}
      </>
    );
  if (length === 'hour' && expiresAt !== undefined)
    return (
      <>
        until <Time at={expiresAt} />
      </>
    );
  return <>{length === 'run' ? 'until the run ends' : 'always'}</>;
}

const ENDED: Readonly<Record<NonNullable<Grant['endReason']>, string>> = {
  revoked: 'was revoked',
  expired: 'has expired',
  run_ended: 'ended with its run',
  tool_changed: 'ended because the tool changed',
  tool_deleted: 'ended with its tool',
  agent_deleted: 'ended with its agent',
};

function conditionsInWords(conditions: Grant['conditions']): string {
  if (conditions.length === 0) return 'with any input';
  return `only if ${conditions.map(conditionInWords).join(', and ')}`;
}

function conditionInWords({ field, equals, oneOf, atLeast, atMost }: Grant['conditions'][number]): string {
  const tests = [
    ...(equals === undefined ? [] : [`is ${inWords(equals)}`]),
    ...(oneOf === undefined ? [] : [`is one of ${oneOf.map(inWords).join(', ')}`]),
    ...(atLeast === undefined ? [] : [`is at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`is at most ${atMost}`]),
  ];
  return `${field.slice(1).replaceAll('/', '.')} ${tests.join(' and ')}`;
}

function RevokeGrant({ grant, onClose }: { grant: Grant; onClose: () => void }): ReactElement {
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={`Revoke the grant for “${grant.toolName}”?`}
      action="Revoke"
      isDanger
      onClose={onClose}
      onConfirm={async () => {
        await client.grants.revoke(grant.id);
        await queries.invalidateQueries({ queryKey: ['grants'] });
      }}
    >
      <p>The next call waits for approval again. Calls that have started are not stopped.</p>
    </ConfirmDialog>
  );
}
