import type { Call, PendingCall, Run } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { callDetails, runOfAnswer } from '../../data/runs.ts';
import { JsonText } from '../../text/safe-text.tsx';
import { withVisibleControls } from '../../text/visible-text.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { workerName } from './call-words.ts';
import { CopyButton } from './copy-button.tsx';
import { type Fact, Facts } from './facts.tsx';
import type { CallRow } from './timeline.ts';
import { answerInWords, waitInWords, whoAnswered } from './wait-words.ts';

/** What proves that the call was settled once: its ids, its attempts, who ran it, and who answered it. */
export function ReceiptTab({ call, run }: { call: CallRow; run: Run }): ReactElement {
  const { data, error, refetch } = useQuery(callDetails(call.callId));
  return (
    <div className="flex flex-col gap-4">
      {error !== null && <ErrorNote error={error} title="The receipt could not be read." retry={() => void refetch()} />}
      <Facts facts={factsOf(call, run, data)} />
      {data?.pending !== undefined && <Race pending={data.pending} run={run} />}
    </div>
  );
}

function factsOf(call: CallRow, run: Run, details: Call | undefined): readonly Fact[] {
  const { callId, settlement, starts } = call;
  const key = details?.idempotencyKey ?? callId;
  const middleware = settlement?.outcome.middleware;
  const worker = workerOf(call, run) ?? details?.pending?.job?.worker;
  const settledAt = details?.settledAt ?? (call.outcome === 'waiting' ? undefined : call.endedAt);
  return [
    ['Call', <Id key="call" text={callId} label="Copy the call's id" />],
    ['Idempotency key', <Id key="key" text={key} label="Copy the key" />],
    ['Settled', settledInWords(call, settledAt)],
    ['Started', starts > 1 ? `${starts} times: a worker was lost while it ran` : call.startedAt === undefined ? 'never' : <Moment at={call.startedAt} />],
    middleware?.retry !== undefined && ['Attempts', `${middleware.retry.attempts}, repeated by its tool's middleware`],
    middleware?.cache !== undefined && ['From the cache', <Moment key="cache" at={middleware.cache.storedAt} />],
    middleware?.repair !== undefined && ['Input repaired', `by ${middleware.repair.by}`],
    worker !== undefined && ['Worker', workerName(worker)],
  ];
}

function settledInWords({ outcome }: CallRow, settledAt: number | undefined): React.ReactNode {
  if (outcome === 'running') return 'not yet';
  if (outcome === 'waiting' && settledAt === undefined) return 'not yet: it waits';
  return (
    <>
      once{outcome === 'unknown' && ', as unknown'}
      {settledAt !== undefined && (
        <>
          , <Moment at={settledAt} />
        </>
      )}
    </>
  );
}

function Id({ text, label }: { text: string; label: string }): ReactElement {
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <code className="font-mono text-xs">{text}</code> <CopyButton text={text} label={label} />
    </span>
  );
}

function Moment({ at }: { at: number }): ReactElement {
  return (
    <time dateTime={new Date(at).toISOString()} className="tabular-nums">
      {exact.format(at)}
    </time>
  );
}

const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
});

/** Which worker ended it. It is known where a run changed hands. */
function workerOf({ endSeq }: CallRow, { takeovers = [] }: Run): string | undefined {
  if (endSeq === undefined) return undefined;
  const after = takeovers.findLast(({ afterSeq }) => afterSeq < endSeq);
  return after === undefined ? takeovers[0]?.from : after.to;
}

/** Who was asked, whose answer counted, and what came too late. */
function Race({ pending, run }: { pending: PendingCall; run: Run }): ReactElement {
  const { callId, status, answer, resolvedAt, lateAnswers = [] } = pending;
  const { data: next } = useQuery({ ...runOfAnswer({ agentId: run.agentId, callId }), enabled: status === 'resolved' });
  return (
    <section aria-label="Who answered" className="flex flex-col gap-2">
      <h3 className="text-xs font-medium text-quiet">Who answered</h3>
      <p>
        <bdi>{withVisibleControls(sentence(waitInWords(pending)))}</bdi>
        {resolvedAt !== undefined && (
          <>
            , <Time at={resolvedAt} />
          </>
        )}
        {next != null && (
          <>
            {': '}
            <Link to="/runs/$id" params={{ id: next.id }} className="text-accent underline">
              run {next.cycle}
            </Link>
          </>
        )}
      </p>
      {answer !== undefined && <JsonText value={answer} label="The answer that counted" />}
      {lateAnswers.map((late) => (
        <p key={`${late.by} ${late.at}`} className="text-quiet">
          <bdi>{withVisibleControls(whoAnswered({ resolvedBy: late.by }))}</bdi> {answerInWords(late.answer)}{' '}
          {resolvedAt === undefined ? 'after its end' : `${duration(Math.max(0, late.at - resolvedAt))} later`}: kept, and it changed nothing.
        </p>
      ))}
    </section>
  );
}

function sentence(words: string): string {
  return words.startsWith('for ') ? `It waits ${words}` : words;
}
