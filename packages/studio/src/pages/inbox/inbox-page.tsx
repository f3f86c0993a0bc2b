import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { pendingCalls } from '../../data/pending.ts';
import type { InboxShow } from '../../data/search.ts';
import { gatewayStatus } from '../../data/status.ts';
import { AskToNotify } from '../../parts/notify/ask-to-notify.tsx';
import { useAnswerer, useMay } from '../../parts/session/session.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { ListHead } from '../../parts/ui/list-head.tsx';
import { Page } from '../../parts/ui/page.tsx';
import { Tabs, tabClass } from '../../parts/ui/tabs.tsx';
import type { CallGroup } from './call-groups.ts';
import { InboxRow, PANEL } from './inbox-row.tsx';
import { OpenCall } from './open-call.tsx';
import { useIsWide } from './use-is-wide.ts';
import { useTriage } from './use-triage.ts';

/** All calls that wait for the signed-in user, across spaces. */
export function InboxPage(): ReactElement {
  const { show = 'waiting' } = useSearch({ from: '/inbox' });
  return (
    <Page title="Inbox" below={<InboxTabs show={show} />}>
      <InboxList key={show} show={show} />
    </Page>
  );
}

function InboxTabs({ show }: { show: InboxShow }): ReactElement {
  return (
    <Tabs label="Calls">
      {TABS.map(({ to, word }) => (
        <Link
          key={to}
          to="/inbox"
          search={to === 'waiting' ? {} : { show: to }}
          activeOptions={{ exact: true }}
          aria-current={to === show ? 'page' : undefined}
          className={tabClass}
        >
          {word}
        </Link>
      ))}
    </Tabs>
  );
}

const TABS: readonly { readonly to: InboxShow; readonly word: string }[] = [
  { to: 'waiting', word: 'Waiting' },
  { to: 'answered', word: 'Answered' },
  { to: 'expired', word: 'Expired' },
];

function InboxList({ show }: { show: InboxShow }): ReactElement {
  const { data, error, refetch } = useQuery(pendingCalls(show, useAnswerer()));
  const isWide = useIsWide();
  const triage = useTriage(data, isWide);
  if (error !== null && data === undefined)
    return <ErrorNote error={error} title="The calls were not loaded." retry={() => void refetch()} />;
  const { groups, selected, unlistedId } = triage;
  const unlisted = show === 'waiting' && unlistedId !== undefined && <Unlisted callId={unlistedId} />;
  if (data !== undefined && groups.length === 0)
    return (
      <>
        {unlisted}
        <Nothing show={show} />
      </>
    );
  const isOver = ({ leader }: CallGroup): boolean => data?.some(({ callId }) => callId === leader.callId) === false;
  const panelOf = (group: CallGroup): ReactElement => (
    <OpenCall key={group.leader.callId} group={group} isOver={isOver(group)} onSplit={() => triage.split(group)} />
  );
  return (
    <>
      {show === 'waiting' && <AskToNotify />}
      {unlisted}
      <div className={isWide ? 'grid grid-cols-[minmax(0,26rem)_minmax(0,1fr)] items-start gap-4' : ''}>
        <div className="overflow-hidden rounded-card border border-line bg-surface">
          <ListHead columns={HEADS[show]} grid="grid-cols-[1fr_auto]" />
          <ul aria-label={`${show} calls`} className="flex flex-col">
            {groups.map((group) => (
              <InboxRow
                key={group.leader.callId}
                group={group}
                show={show}
                isOver={isOver(group)}
                isOpen={group === selected}
                onToggle={() => triage.toggle(group)}
                panel={group === selected && !isWide ? panelOf(group) : undefined}
              />
            ))}
          </ul>
        </div>
        {isWide && (
          <div id={PANEL} className="sticky top-0">
            {selected !== undefined && panelOf(selected)}
            {show === 'waiting' && <HowToTriage />}
          </div>
        )}
      </div>
    </>
  );
}

/** Another call is shown in its place, which the user must not take for it. */
function Unlisted({ callId }: { callId: string }): ReactElement {
  const mayRead = useMay('read');
  return (
    <p role="status" className="text-wait">
      The call of this link does not wait for you: it was answered or cancelled, its time is up, or it is not yours.{' '}
      {mayRead && (
        <Link to="/calls/$id" params={{ id: callId }} className="link">
          Open the call
        </Link>
      )}
    </p>
  );
}

const HEADS: Readonly<Record<InboxShow, readonly string[]>> = {
  waiting: ['Call', 'Time left'],
  answered: ['Call', 'Answered'],
  expired: ['Call', 'Expired'],
};

function HowToTriage(): ReactElement {
  return (
    <p className="px-1 pt-3 text-xs text-quiet">
      With the keyboard: <kbd>j</kbd> and <kbd>k</kbd> go from call to call, <kbd>a</kbd> approves, <kbd>d</kbd> denies,{' '}
      <kbd>e</kbd> edits, <kbd>?</kbd> lists all keys.
    </p>
  );
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
      <TryInDemo />
    </EmptyState>
  );
}

function TryInDemo(): ReactElement | null {
  const { data } = useQuery(gatewayStatus);
  // Only the demo can crash.
  if (data?.canCrash !== true) return null;
  return (
    <p>
      To see one, say “Book a hotel in Tokyo” in{' '}
      <Link to="/spaces" className="link">
        a space
      </Link>{' '}
      of the demo.
    </p>
  );
}
