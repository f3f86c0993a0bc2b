import type { PendingCall } from '@lastcall/client';
import { questionOf, withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { type ReactElement, useId } from 'react';
import { agentNames } from '../../data/runs.ts';
import type { InboxShow } from '../../data/search.ts';
import { spaceById, spaceMembers } from '../../data/spaces.ts';
import { answerInWords, inWords } from '../../parts/cards/call-shape.ts';
import { wantedInWords } from '../../parts/cards/card-of-call.ts';
import { TimeLeft } from '../../parts/cards/time-left.tsx';
import { useMay } from '../../parts/session/session.tsx';
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
    <li className="border-b border-line last:border-b-0">
      <button
        type="button"
        data-inbox-row={call.callId}
        aria-expanded={isOpen}
        aria-controls={panel === undefined ? PANEL : panelId}
        onClick={onToggle}
        className={`grid min-h-11 w-full grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-0.5 px-4 py-2.5 text-left hover:bg-raised ${isOpen ? 'bg-selected' : ''}`}
      >
        <span className="min-w-0 truncate font-medium">
          {others.length > 0 && <span>{others.length + 1} × </span>}
          {withVisibleControls(question ?? inWords(call.input))}
        </span>
        <span className="text-sm">
          {isOver ? <span className="text-quiet">no longer waits</span> : <When call={call} show={show} />}
        </span>
        <span className="min-w-0 truncate text-sm text-quiet">
          <bdi className="font-mono">{withVisibleControls(call.toolName)}</bdi>
          {show !== 'waiting' && (
            <>
              {' '}
              · <Wanted call={call} show={show} />
            </>
          )}{' '}
          · <Origin call={call} />
        </span>
        <ChevronRight
          size={16}
          aria-hidden
          className={`shrink-0 justify-self-end text-quiet transition-transform ${isOpen ? 'rotate-90' : ''}`}
        />
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

function When({ call, show }: Shown): ReactElement | null {
  if (show === 'waiting') return call.expiresAt === undefined ? null : <TimeLeft expiresAt={call.expiresAt} />;
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
  const mayRead = useMay('read');
  // Without a space, there are no members who would tell the name.
  const { data: agents } = useQuery({ ...agentNames, enabled: mayRead && spaceId === undefined });
  const agent = members?.find(({ entityId }) => entityId === agentId)?.displayName ?? agents?.get(agentId);
  const names = [agent ?? 'an agent', node, space?.name].filter((name) => name !== undefined);
  return <bdi>{withVisibleControls(names.join(', '))}</bdi>;
}
