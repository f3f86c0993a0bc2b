import type { PendingCall } from '@lastcall/client';
import { ToolCard, withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { type ReactElement, useId } from 'react';
import { originOf } from '../../data/forks.ts';
import { currentCall } from '../../data/pending.ts';
import type { InboxShow } from '../../data/search.ts';
import { spaceById, spaceMembers } from '../../data/spaces.ts';
import { answerInWords, inWords, questionOf } from '../../parts/cards/call-shape.ts';
import { CardPlaceProvider } from '../../parts/cards/card-place.tsx';
import { TimeLeft } from '../../parts/cards/time-left.tsx';
import { useMay, useSession } from '../../parts/session/session.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { toCardItem, wantedInWords } from './card-of-call.ts';

interface InboxRowProps {
  readonly call: PendingCall;
  readonly show: InboxShow;
  /** True if it was answered, or its time ran out, since it was opened here. */
  readonly isOver: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** One line; when opened, the card itself. */
export function InboxRow({ call, show, isOver, isOpen, onToggle }: InboxRowProps): ReactElement {
  const panel = useId();
  const { question } = questionOf(call.input);
  return (
    <li className="overflow-hidden rounded-card border border-line bg-surface">
      <button
        type="button"
        data-inbox-row
        aria-expanded={isOpen}
        aria-controls={panel}
        onClick={onToggle}
        className="grid min-h-11 w-full grid-cols-[auto_1fr] items-center gap-x-3 gap-y-0.5 px-3 py-2 text-left hover:bg-raised wide:grid-cols-[8.5rem_minmax(0,11rem)_1fr_auto]"
      >
        <span className="order-1 text-sm">
          {isOver ? <span className="text-quiet">no longer waits</span> : <When call={call} show={show} />}
        </span>
        <span className="order-2 min-w-0 truncate text-right font-mono text-xs font-medium wide:text-left">
          <bdi>{withVisibleControls(call.toolName)}</bdi>
        </span>
        <span className="order-3 col-span-2 min-w-0 truncate wide:col-span-1">
          {withVisibleControls(question ?? inWords(call.input))}
        </span>
        <span className="order-4 col-span-2 flex min-w-0 items-center justify-between gap-2 text-sm text-quiet wide:col-span-1">
          <span className="truncate">
            <Wanted call={call} show={show} /> · <Origin call={call} />
          </span>
          <ChevronRight
            size={16}
            aria-hidden
            className={`shrink-0 transition-transform ${isOpen ? 'rotate-90' : ''}`}
          />
        </span>
      </button>
      {isOpen && (
        <div id={panel} className="border-t border-line p-3">
          <OpenCard call={call} isOver={isOver} />
        </div>
      )}
    </li>
  );
}

function When({ call, show }: Pick<InboxRowProps, 'call' | 'show'>): ReactElement {
  if (show === 'waiting') return <TimeLeft expiresAt={call.expiresAt} />;
  return <Time at={call.resolvedAt ?? call.expiresAt ?? call.createdAt} />;
}

function Wanted({ call, show }: Pick<InboxRowProps, 'call' | 'show'>): ReactElement {
  if (show === 'answered' && call.answer !== undefined)
    return (
      <>
        {withVisibleControls(answerInWords(call.answer))}:{' '}
        <bdi>{withVisibleControls(call.resolvedByName ?? 'an operator')}</bdi>
      </>
    );
  const late = call.lateAnswers?.length ?? 0;
  if (show === 'expired') return <>{late === 0 ? 'no answer came' : `${late} too late`}</>;
  return <>{wantedInWords(call)}</>;
}

/** The agent, the node of its machine that asks, and where it asks. */
function Origin({ call: { agentId, spaceId, node } }: { call: PendingCall }): ReactElement {
  const { data: space } = useQuery({ ...spaceById(spaceId ?? ''), enabled: spaceId !== undefined });
  const { data: members } = useQuery({ ...spaceMembers(spaceId ?? ''), enabled: spaceId !== undefined });
  const agent = members?.find(({ entityId }) => entityId === agentId)?.displayName;
  const names = [agent ?? 'an agent', node, space?.name].filter((name) => name !== undefined);
  return <bdi>{withVisibleControls(names.join(', '))}</bdi>;
}

function OpenCard({ call, isOver }: Pick<InboxRowProps, 'call' | 'isOver'>): ReactElement {
  const { entity } = useSession().session;
  const { data: current } = useQuery(currentCall(call, { entityId: entity?.id, isOver }));
  const { data: members } = useQuery({ ...spaceMembers(call.spaceId ?? ''), enabled: call.spaceId !== undefined });
  // No space shows the calls of a fork.
  const mayRead = useMay('read');
  const { data: origin } = useQuery({ ...originOf(call.runId), enabled: mayRead && call.spaceId === undefined });
  // This user cannot read how it ended, and the card opened here still has buttons.
  if (isOver && current !== undefined && current.card === undefined && current.call === undefined)
    return (
      <p role="status" className="text-quiet">
        It no longer waits: it was answered or cancelled, or its time is up.
      </p>
    );
  if (origin != null && !isOver) return <CallOfFork call={call} />;
  return (
    <CardPlaceProvider value={members === undefined ? {} : { members }}>
      <ToolCard key={call.callId} item={toCardItem(current?.call ?? call, current?.card)} />
    </CardPlaceProvider>
  );
}

/** A call of a fork must not run by a click on a card: its page has the answers that it can get. */
function CallOfFork({ call: { runId } }: { call: PendingCall }): ReactElement {
  return (
    <p>
      This call belongs to a fork, and the original run made no such call.{' '}
      <Link to="/runs/$id" params={{ id: runId }} search={{}} className="text-accent underline">
        Open the run
      </Link>{' '}
      to give it an outcome, to refuse it, or to run it for real.
    </p>
  );
}
