import type { PendingCall } from '@lastcall/client';
import { questionOf, withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { type ReactElement, useId } from 'react';
import type { InboxShow } from '../../data/search.ts';
import { spaceById, spaceMembers } from '../../data/spaces.ts';
import { answerInWords, inWords } from '../../parts/cards/call-shape.ts';
import { wantedInWords } from '../../parts/cards/card-of-call.ts';
import { TimeLeft } from '../../parts/cards/time-left.tsx';
import { Time } from '../../parts/ui/time.tsx';
import type { CallGroup } from './call-groups.ts';

/** The id of the place beside the list in which an open call is shown. */
export const PANEL = 'open-call';

interface InboxRowProps {
  readonly group: CallGroup;
  readonly show: InboxShow;
  /** True if it was answered, or its time ran out, since it was opened here. */
  readonly isOver: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** The open call, where there is no place beside the list. */
  readonly panel: ReactElement | undefined;
}

/** One line for a call, or for several that ask exactly the same. */
export function InboxRow({ group, show, isOver, isOpen, onToggle, panel }: InboxRowProps): ReactElement {
  const { leader: call, others } = group;
  const panelId = useId();
  const { question } = questionOf(call.input);
  return (
    <li className="overflow-hidden rounded-card border border-line bg-surface">
      <button
        type="button"
        data-inbox-row={call.callId}
        aria-expanded={isOpen}
        aria-controls={panel === undefined ? PANEL : panelId}
        onClick={onToggle}
        className={`grid min-h-11 w-full grid-cols-[auto_1fr] items-center gap-x-3 gap-y-0.5 px-3 py-2 text-left hover:bg-raised ${isOpen ? 'bg-accent-soft' : ''}`}
      >
        <span className="order-1 text-sm">
          {isOver ? <span className="text-quiet">no longer waits</span> : <When call={call} show={show} />}
        </span>
        <span className="order-2 min-w-0 truncate text-right font-mono text-xs font-medium">
          <bdi>{withVisibleControls(call.toolName)}</bdi>
        </span>
        <span className="order-3 col-span-2 min-w-0 truncate">
          {others.length > 0 && <span className="font-medium">{others.length + 1} × </span>}
          {withVisibleControls(question ?? inWords(call.input))}
        </span>
        <span className="order-4 col-span-2 flex min-w-0 items-center justify-between gap-2 text-sm text-quiet">
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
      {panel !== undefined && (
        <div id={panelId} className="border-t border-line p-3">
          {panel}
        </div>
      )}
    </li>
  );
}

interface Shown {
  readonly call: PendingCall;
  readonly show: InboxShow;
}

function When({ call, show }: Shown): ReactElement {
  if (show === 'waiting') return <TimeLeft expiresAt={call.expiresAt} />;
  return <Time at={call.resolvedAt ?? call.expiresAt ?? call.createdAt} />;
}

function Wanted({ call, show }: Shown): ReactElement {
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
