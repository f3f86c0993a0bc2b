import { type CardProps, withVisibleControls } from '@lastcall/client/react';
import { Link } from '@tanstack/react-router';
import type { KeyboardEvent, ReactElement, ReactNode } from 'react';
import { useMay } from '../session/session.tsx';
import { OutcomeMark } from '../ui/outcome.tsx';
import { CardEnd } from './card-end.tsx';
import { useSettleClass } from './settle-class.ts';
import { isApprovedOnly, statusOf } from './status-of.ts';
import { TimeLeft } from './time-left.tsx';
import type { UsedCard } from './use-card.ts';

interface CardFrameProps {
  readonly props: CardProps;
  readonly card: UsedCard;
  readonly onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  /** The keys that work in the card, for screen readers. */
  readonly keys?: string;
  readonly children: ReactNode;
}

/** Only cards have this frame: an agent's text cannot imitate it. */
export function CardFrame({ props, card, onKeyDown, keys, children }: CardFrameProps): ReactElement {
  const { call, state } = props;
  const name = withVisibleControls(call.toolName);
  const isRunning = state.status === 'running';
  const settle = useSettleClass(statusOf({ call, state }));
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a card that has the focus handles keys.
      tabIndex={0}
      aria-label={`${name}, ${isRunning && isApprovedOnly(call) ? 'approved, without a result yet' : STATUS_WORDS[state.status]}`}
      aria-keyshortcuts={card.isOpen && card.isMine ? keys : undefined}
      data-card={call.callId}
      data-status={state.status}
      onKeyDown={onKeyDown}
      className={`flex w-full flex-col overflow-hidden rounded-card border bg-surface ${settle} ${card.isOpen ? 'border-wait/60 shadow-sm' : 'border-line'}`}
    >
      <CardHead props={props} card={card} name={name} />
      <div className="flex flex-col gap-3 p-4">
        {children}
        {!card.isOpen && <CardEnd {...props} />}
      </div>
      {card.isOpen && <CardFoot card={card} />}
    </section>
  );
}

function CardHead({
  props: { call, state },
  card,
  name,
}: Pick<CardFrameProps, 'props' | 'card'> & { name: string }): ReactElement {
  return (
    <header
      className={`flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2 text-sm ${card.isOpen ? 'border-wait/30 bg-wait-soft' : 'border-line bg-raised'}`}
    >
      <span className="font-mono text-xs font-medium">
        <bdi>{name}</bdi>
      </span>
      <span className="ml-auto flex flex-wrap items-center gap-x-3">
        {card.isOpen ? <TimeLeft expiresAt={call.expiresAt} /> : <Mark call={call} state={state} />}
        <RunLink runId={call.runId} callId={call.callId} />
      </span>
    </header>
  );
}

function Mark({ call, state }: Pick<CardProps, 'call' | 'state'>): ReactElement | null {
  const name = statusOf({ call, state });
  return name === 'running' && isApprovedOnly(call) ? null : <OutcomeMark name={name} />;
}

/** A link to the run, with the call open. */
export function RunLink({ runId, callId }: { runId: string | undefined; callId: string }): ReactElement | null {
  const mayRead = useMay('read');
  if (runId === undefined || !mayRead) return null;
  return (
    <Link
      to="/runs/$id"
      params={{ id: runId }}
      search={{ call: callId }}
      className="inline-flex min-h-6 items-center text-xs text-quiet underline decoration-line underline-offset-2 hover:text-text"
    >
      run
    </Link>
  );
}

/** Who may answer, and why answering is not possible at the moment. */
function CardFoot({ card }: { card: UsedCard }): ReactElement {
  return (
    <footer className="flex flex-wrap gap-x-2 border-t border-line px-4 py-2 text-xs text-quiet">
      <span>{card.right.words}</span>
      {!card.isMine && <span>· you may not</span>}
      {card.isOffline && (
        <span role="status" className="text-wait">
          · You are offline: nothing is sent or queued. Your input is kept.
        </span>
      )}
    </footer>
  );
}

type Status = CardProps['state']['status'];

const STATUS_WORDS: Readonly<Record<Status, string>> = {
  writing: 'being written',
  running: 'running',
  waiting: 'waits for an answer',
  sending: 'the answer is being sent',
  refused: 'the answer was not accepted',
  unsent: 'the answer did not arrive',
  answered: 'answered',
  complete: 'done',
  lost: 'answered by another person',
  error: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
};
