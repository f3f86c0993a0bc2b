import type { PendingCall } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { pendingCalls } from '../../data/pending.ts';
import type { InboxShow } from '../../data/search.ts';
import { useKeys } from '../../parts/keyboard/keys.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { Tabs, tabClass } from '../../parts/ui/tabs.tsx';
import { InboxRow } from './inbox-row.tsx';
import { withOpened } from './opened-calls.ts';

/** All calls that wait for the signed-in user, across spaces. */
export function InboxPage(): ReactElement {
  const { show = 'waiting' } = useSearch({ from: '/inbox' });
  return (
    <Page title="Inbox" below={<InboxTabs />}>
      <InboxList key={show} show={show} />
    </Page>
  );
}

function InboxTabs(): ReactElement {
  const exact = { exact: true, includeSearch: true } as const;
  return (
    <Tabs label="Calls">
      <Link to="/inbox" search={{}} activeOptions={exact} className={tabClass}>
        Waiting
      </Link>
      <Link to="/inbox" search={{ show: 'answered' }} activeOptions={exact} className={tabClass}>
        Answered
      </Link>
      <Link to="/inbox" search={{ show: 'expired' }} activeOptions={exact} className={tabClass}>
        Expired
      </Link>
    </Tabs>
  );
}

function InboxList({ show }: { show: InboxShow }): ReactElement {
  const { entity } = useSession().session;
  const { data, error, refetch } = useQuery(pendingCalls(show, entity?.id));
  const [opened, setOpened] = useState<readonly PendingCall[]>([]);
  useKeys({
    j: { label: 'Next call', run: () => moveFocus(1) },
    k: { label: 'Previous call', run: () => moveFocus(-1) },
  });
  const toggle = (call: PendingCall): void =>
    setOpened((before) =>
      before.some(({ callId }) => callId === call.callId)
        ? before.filter(({ callId }) => callId !== call.callId)
        : [...before, call],
    );
  if (error !== null && data === undefined)
    return <ErrorNote error={error} title="The calls were not loaded." retry={() => void refetch()} />;
  // An open call stays in its place after it has been answered, so that the user sees the result.
  const calls = withOpened(data ?? [], opened);
  if (data !== undefined && calls.length === 0) return <Nothing show={show} />;
  return (
    <ul aria-label={`${show} calls`} className="flex flex-col gap-2">
      {calls.map((call) => (
        <InboxRow
          key={call.callId}
          call={call}
          show={show}
          isOver={data?.some(({ callId }) => callId === call.callId) === false}
          isOpen={opened.some(({ callId }) => callId === call.callId)}
          onToggle={() => toggle(call)}
        />
      ))}
    </ul>
  );
}

/** Moves the focus to the next or previous row of the inbox; from outside, to the first. */
function moveFocus(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-inbox-row]')];
  const at = rows.findIndex((row) => row.closest('li')?.contains(document.activeElement) === true);
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

function Nothing({ show }: { show: InboxShow }): ReactElement {
  if (show === 'answered')
    return (
      <EmptyState title="Nothing has been answered yet.">
        <p>Calls that you answered, or could have answered, stay here with who answered them and when.</p>
      </EmptyState>
    );
  if (show === 'expired')
    return (
      <EmptyState title="Nothing has expired.">
        <p>
          A call may have a time limit. Calls that were not answered in time are listed here, with answers that came too
          late.
        </p>
      </EmptyState>
    );
  return (
    <EmptyState title="Nothing is waiting for you.">
      <p>
        When an agent needs a yes, a choice, a form or an approval, it appears here, those with the least time left
        first. You can answer here or in the space: the first answer counts.
      </p>
      <p>
        To see one, say “Book a hotel in Tokyo” in{' '}
        <Link to="/spaces" className="text-accent underline">
          a space
        </Link>{' '}
        of the demo.
      </p>
    </EmptyState>
  );
}
