import type { PendingCall } from '@lastcall/client';
import { ToolCard } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { originOf } from '../../data/forks.ts';
import { currentCall } from '../../data/pending.ts';
import { spaceMembers } from '../../data/spaces.ts';
import { toCardItem } from '../../parts/cards/card-of-call.ts';
import { CardPlaceProvider } from '../../parts/cards/card-place.tsx';
import { useMay, useSession } from '../../parts/session/session.tsx';
import { AnswerAlike } from './answer-alike.tsx';
import type { CallGroup } from './call-groups.ts';

interface OpenCallProps {
  readonly group: CallGroup;
  /** True if it was answered, or its time ran out, since it was opened here. */
  readonly isOver: boolean;
  readonly onSplit: () => void;
}

/** The card of a call and, if other calls ask the same, what to do with them. */
export function OpenCall({ group: { leader: call, others }, isOver, onSplit }: OpenCallProps): ReactElement {
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
      <div className="flex flex-col gap-3">
        <ToolCard key={call.callId} item={toCardItem(current?.call ?? call, current?.card)} />
        <AnswerAlike others={others} answer={current?.call?.answer} onSplit={onSplit} />
      </div>
    </CardPlaceProvider>
  );
}

/** A call of a fork must not run by a click on a card: its page has the answers that it can get. */
function CallOfFork({ call: { runId } }: { call: PendingCall }): ReactElement {
  return (
    <p>
      This call belongs to a fork, and the original run has no outcome of such a call.{' '}
      <Link to="/runs/$id" params={{ id: runId }} search={{}} className="link">
        Open the run
      </Link>{' '}
      to give it an outcome, to refuse it, or to run it for real.
    </p>
  );
}
