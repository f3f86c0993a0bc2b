import type { Call, PendingCall } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { type CallRow, NEVER_RAN } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { memo, type ReactElement, useEffect, useRef } from 'react';
import { callDetails } from '../../../data/calls.ts';
import { runOfAnswer } from '../../../data/runs.ts';
import { followInPage } from '../../ui/follow-in-page.ts';
import { OutcomeMark } from '../../ui/outcome.tsx';
import { duration } from '../../ui/time.tsx';
import { changesInWords, codeOf, noteOf, originInWords } from '../call-words.ts';
import { waitInWords } from '../wait-words.ts';
import { rowClass } from './row-class.ts';
import { TimeBar } from './time-bar.tsx';
import type { TimeScale } from './time-scale.ts';

interface CallRowProps {
  readonly call: CallRow;
  readonly scale: TimeScale;
  readonly numbers: ReadonlyMap<string, string>;
  readonly isOpen: boolean;
  /** True if the keys `j` and `k` have moved here. */
  readonly hasCursor: boolean;
  readonly onOpen: (key: string) => void;
}

/** One call: its state, its tool, the reason, how long, and when. */
export const CallRowView = memo(function CallRowView(props: CallRowProps): ReactElement {
  const { call, scale, numbers, isOpen, hasCursor, onOpen } = props;
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (hasCursor) link.current?.focus({ preventScroll: true });
  }, [hasCursor]);
  const isWaiting = call.outcome === 'waiting';
  return (
    <a
      ref={link}
      href={`/runs/${call.runId}?call=${call.callId}`}
      aria-current={isOpen ? 'true' : undefined}
      onClick={(event) => followInPage(event, () => onOpen(call.callId))}
      className={`${rowClass} hover:bg-raised aria-[current=true]:bg-selected`}
    >
      <Place call={call} />
      {/* On a narrow screen the tool moves to a separate line if the outcome leaves it no room. */}
      <span className="col-span-2 flex min-w-0 flex-wrap items-center gap-x-2 wide:contents">
        <span className="flex min-w-0 items-center leading-4 wide:py-0.5">
          <OutcomeMark name={call.outcome} detail={codeOf(call)} />
        </span>
        <span className="flex min-w-0 flex-1 basis-48 flex-wrap items-center gap-x-2 wide:basis-auto wide:flex-nowrap wide:overflow-hidden">
          <bdi
            title={withVisibleControls(call.toolName)}
            className={`max-w-full shrink-0 truncate font-medium ${NEVER_RAN.has(call.outcome) ? 'text-quiet' : ''}`}
          >
            {withVisibleControls(call.toolName)}
          </bdi>
          <Marks call={call} />
          <span dir="auto" className="min-w-0 flex-1 basis-24 truncate text-quiet wide:basis-0">
            {isWaiting || call.laterEndAt !== undefined ? (
              <WaitNote callId={call.callId} />
            ) : (
              withVisibleControls(noteOf(call, numbers))
            )}
          </span>
        </span>
      </span>
      <span className="text-right text-xs text-quiet tabular-nums">{durationOf(call)}</span>
      <span className="col-span-full h-2 self-stretch wide:col-span-1 wide:h-auto">
        <TimeBar
          scale={scale}
          from={ranFrom(call)}
          to={isWaiting ? undefined : call.endedAt}
          look={call.outcome}
          lost={call.lostAttempts}
        />
      </span>
    </a>
  );
});

/** A call that waited for its result was answered, and did not run: the line of its wait shows how long that took. */
function ranFrom({ startedAt, endedAt, settlement, wait }: CallRow): number | undefined {
  const isAnswered = wait !== undefined && settlement?.outcome.status !== 'pending' && startedAt === wait.startedAt;
  return isAnswered ? endedAt : startedAt;
}

function durationOf(call: CallRow): string {
  const { endedAt, outcome, laterEndAt } = call;
  const startedAt = ranFrom(call);
  if (NEVER_RAN.has(outcome)) return 'never ran';
  if (laterEndAt !== undefined) return '';
  if (startedAt === undefined || endedAt === undefined || outcome === 'waiting' || outcome === 'unknown') return '';
  return duration(endedAt - startedAt);
}

/** Its place in the step. Calls that ran in parallel share a bracket. */
function Place({ call: { number, bracket } }: { call: CallRow }): ReactElement {
  return (
    <span className="relative hidden self-stretch text-right text-xs leading-7 text-quiet tabular-nums wide:block">
      {bracket !== undefined && (
        <>
          <span aria-hidden className={`absolute inset-y-0 left-3 w-1.5 border-l-2 border-quiet ${CAPS[bracket]}`} />
          <span className="sr-only">in parallel </span>
        </>
      )}
      {number}
    </span>
  );
}

const CAPS = { first: 'mt-1 rounded-tl border-t-2', middle: '', last: 'mb-1 rounded-bl border-b-2' } as const;

function Marks({ call }: { call: CallRow }): ReactElement {
  const changes = changesInWords(call);
  return (
    <>
      {call.isResponse && <Mark>RESPONSE</Mark>}
      {changes !== undefined && changes !== '' && <Mark>{changes}</Mark>}
      {call.starts > 1 && (
        <Mark>
          {call.starts} attempts, one key, {call.outcome === 'ok' ? 'done once' : 'settled once'}
        </Mark>
      )}
      {call.isTrimmed && <Mark>not seen again</Mark>}
      {call.step === undefined && call.origin !== undefined && (
        <Mark>{withVisibleControls(originInWords(call.origin))}</Mark>
      )}
      {call.step === undefined && <Mark>answer to an earlier run</Mark>}
    </>
  );
}

function Mark({ children }: { children: React.ReactNode }): ReactElement {
  return <span className="shrink-0 rounded border border-line px-1 text-xs text-quiet">{children}</span>;
}

/** Who is asked, or who answered. */
function WaitNote({ callId }: { callId: string }): ReactElement {
  const { data: call } = useQuery(callDetails(callId));
  return call?.pending?.status === 'resolved' ? (
    <AnsweredNote call={call} pending={call.pending} />
  ) : (
    <span>{withVisibleControls(waitInWords(call))}</span>
  );
}

function AnsweredNote({ call, pending }: { call: Call; pending: PendingCall }): ReactElement {
  const { data: next } = useQuery(runOfAnswer(pending));
  const words = waitInWords(call);
  return <span>{withVisibleControls(next == null ? words : `${words}: run ${next.number}`)}</span>;
}
