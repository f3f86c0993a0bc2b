import type { Agent, InboxItem } from '@lastcall/client';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import type { ReactElement } from 'react';
import { agentById, agentInbox } from '../../data/agents.ts';
import { client } from '../../data/client.ts';
import { NeedsScope } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { SafeText } from '../../parts/text/safe-text.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { adviceFor, canRedrive, errorInWords, eventInWords } from './inbox-words.ts';
import { SendEvent } from './send-event.tsx';

const SHOWN = ['pending', 'claimed', 'dead', 'withheld', 'done'] as const;
const route = getRouteApi('/agents/$id');

/** The events of the agent: those that wait, that failed too often, and that were withheld. */
export function InboxTab({ agent }: { agent: Agent }): ReactElement {
  const { show } = route.useSearch();
  const status = SHOWN.find((one) => one === show);
  const inbox = useInfiniteQuery(agentInbox(agent.id, status));
  const redrive = useRedrive(agent.id);
  const items = inbox.data?.pages.flatMap((page) => page.items);
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <StatusFilter agent={agent} current={status} />
        <RedriveAll agent={agent} redrive={redrive} />
        <SendEvent agent={agent} />
      </div>
      <p role="status" className="text-sm text-ok empty:hidden">
        {redrive.data !== undefined && `${counted(redrive.data.length)} put back into the inbox.`}
      </p>
      {redrive.error !== null && <ErrorNote error={redrive.error} title="Nothing was redriven." />}
      {inbox.error !== null && <ErrorNote error={inbox.error} retry={() => void inbox.refetch()} />}
      {items?.length === 0 && <NothingHere status={status} />}
      {items !== undefined && items.length > 0 && (
        <ul aria-label="Events" className="rounded-card border border-line bg-surface">
          {items.map((item) => (
            <EventRow key={item.eventId} item={item} redrive={redrive} />
          ))}
        </ul>
      )}
      {inbox.hasNextPage && (
        <div>
          <Button onClick={() => void inbox.fetchNextPage()}>Show earlier ones</Button>
        </div>
      )}
    </>
  );
}

type Redrive = ReturnType<typeof useRedrive>;

function useRedrive(agentId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (eventIds: readonly string[] | undefined) => client.agents.redrive(agentId, eventIds),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['agents', agentId, 'inbox'] }),
        queries.invalidateQueries({ queryKey: agentById(agentId).queryKey, exact: true }),
      ]);
    },
  });
}

function StatusFilter({ agent, current }: { agent: Agent; current: string | undefined }): ReactElement {
  const { pending, dead, withheld } = agent.inbox;
  const counts: Readonly<Record<string, number>> = { pending, dead, withheld };
  return (
    <nav aria-label="Which events" className="mr-auto flex flex-wrap gap-1">
      {[undefined, ...SHOWN].map((one) => (
        <Link
          key={one ?? 'all'}
          to="/agents/$id"
          params={{ id: agent.id }}
          search={{ tab: 'inbox', ...(one === undefined ? {} : { show: one }) }}
          activeOptions={{ exact: true }}
          aria-current={one === current ? 'page' : undefined}
          className="inline-flex min-h-7 items-center rounded-full border border-line px-3 text-sm text-quiet hover:text-text aria-[current=page]:border-text aria-[current=page]:bg-selected aria-[current=page]:text-text"
        >
          {one === undefined ? 'All' : WORDS[one]}
          {one !== undefined && (counts[one] ?? 0) > 0 && ` ${counts[one]}`}
        </Link>
      ))}
    </nav>
  );
}

const WORDS: Readonly<Record<InboxItem['status'], string>> = {
  pending: 'waiting',
  claimed: 'in a run',
  dead: 'dead',
  withheld: 'withheld',
  done: 'done',
};

const COLOURS: Readonly<Record<InboxItem['status'], string>> = {
  pending: 'text-wait',
  claimed: 'text-accent',
  dead: 'text-bad',
  withheld: 'text-wait',
  done: 'text-quiet',
};

function RedriveAll({ agent, redrive }: { agent: Agent; redrive: Redrive }): ReactElement | null {
  const mayWrite = useMay('write');
  const count = agent.inbox.dead + agent.inbox.withheld;
  if (count === 0) return null;
  if (!mayWrite) return <NeedsScope scope="write" to="redrive events" />;
  return (
    <Button disabled={redrive.isPending} onClick={() => redrive.mutate(undefined)}>
      <RotateCcw size={16} aria-hidden /> Redrive all {count}
    </Button>
  );
}

function EventRow({ item, redrive }: { item: InboxItem; redrive: Redrive }): ReactElement {
  const mayWrite = useMay('write');
  const advice = adviceFor(item);
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 border-b border-line px-4 py-2 last:border-b-0">
      <span className={`w-20 shrink-0 text-sm ${COLOURS[item.status]}`}>{WORDS[item.status]}</span>
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <SafeText text={eventInWords(item.event)} className="line-clamp-3" />
        {item.error !== undefined && <SafeText text={errorInWords(item.error)} className="text-sm text-bad" />}
        <p className="flex flex-wrap gap-x-3 text-xs text-quiet">
          <Time at={item.createdAt} />
          {item.attempts > 0 && <span>{item.attempts === 1 ? '1 attempt' : `${item.attempts} attempts`}</span>}
          {item.runId !== undefined && (
            <Link to="/runs/$id" params={{ id: item.runId }} className="link">
              its last run
            </Link>
          )}
          {advice !== undefined && <span>{advice}</span>}
        </p>
      </div>
      {mayWrite && canRedrive(item) && (
        <Button disabled={redrive.isPending} onClick={() => redrive.mutate([item.eventId])}>
          Redrive
        </Button>
      )}
    </li>
  );
}

function NothingHere({ status }: { status: InboxItem['status'] | undefined }): ReactElement {
  return (
    <EmptyState title={status === undefined ? 'No event has arrived yet.' : `No event is ${WORDS[status]}.`}>
      <p>
        Messages in its spaces, answers to its calls, due plans and events of your services arrive here. Those that fail
        too often are dead, and can be redriven.
      </p>
    </EmptyState>
  );
}

function counted(count: number): string {
  return count === 1 ? '1 event was' : `${count} events were`;
}
