import type { Call, PendingCall, Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { type CallRow, NEVER_RAN } from '@lastcall/client/timeline';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { callDetails } from '../../data/calls.ts';
import { grantById } from '../../data/grants.ts';
import { runOfAnswer } from '../../data/runs.ts';
import { answerInWords as saidInWords } from '../../parts/cards/call-shape.ts';
import { workerName } from '../../parts/run/call-words.ts';
import { ExactTime } from '../../parts/run/timeline/exact-time.tsx';
import { waitInWords, whoAnswered } from '../../parts/run/wait-words.ts';
import { JsonText } from '../../parts/text/safe-text.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { duration } from '../../parts/ui/time.tsx';
import { CopyButton } from './copy-button.tsx';

/** Proof that the call was settled once: its ids, its attempts, who ran it, and who answered it. */
export function ReceiptTab({ call, run }: { call: CallRow; run: Run }): ReactElement {
  const { data, error, refetch } = useQuery(callDetails(call.callId));
  return (
    <div className="flex flex-col gap-4">
      {error !== null && (
        <ErrorNote error={error} title="The receipt could not be read." retry={() => void refetch()} />
      )}
      <Receipt call={call} run={run} details={data} />
      {data?.pending !== undefined && <Race call={data} pending={data.pending} />}
    </div>
  );
}

function Receipt({ call, run, details }: { call: CallRow; run: Run; details: Call | undefined }): ReactElement {
  const { callId, settlement, starts, startedAt } = call;
  const { retry, cache, repair } = settlement?.outcome.middleware ?? {};
  const worker = details?.pending?.job?.worker ?? (NEVER_RAN.has(call.outcome) ? undefined : workerOf(call, run));
  const settledAt = details?.settledAt ?? (call.outcome === 'waiting' ? undefined : call.endedAt);
  return (
    <Facts>
      <Fact name="Call">
        <Id text={callId} label="Copy the call’s id" />
      </Fact>
      <Fact name="Idempotency key">
        <Id text={details?.idempotencyKey ?? callId} label="Copy the key" />
      </Fact>
      <Fact name="Settled">{settledInWords(call, settledAt)}</Fact>
      <Fact name="Started">
        {NEVER_RAN.has(call.outcome) || startedAt === undefined ? 'never' : <ExactTime at={startedAt} />}
      </Fact>
      {starts > 1 && (
        <Fact name="Attempts">
          <Attempts call={call} worker={worker} />
        </Fact>
      )}
      {retry !== undefined && <Fact name="Attempts">{retry.attempts}, repeated by the middleware of its tool</Fact>}
      {cache !== undefined && (
        <Fact name="From the cache">
          <ExactTime at={cache.storedAt} />
        </Fact>
      )}
      {repair !== undefined && <Fact name="Input repaired">by {repair.by}</Fact>}
      {details?.grantId !== undefined && (
        <Fact name="Approved by">
          <span className="flex flex-wrap items-center gap-x-2">
            a <GrantLink id={details.grantId} /> <code className="font-mono text-xs">{details.grantId}</code>
          </span>
        </Fact>
      )}
      {worker !== undefined && <Fact name="Worker">{workerName(worker)}</Fact>}
    </Facts>
  );
}

/** Every attempt with its worker. All of them have the idempotency key above, so the other service can tell that they are one. */
function Attempts({ call, worker }: { call: CallRow; worker: string | undefined }): ReactElement {
  const { lostAttempts, startedAt, outcome } = call;
  return (
    <ol className="flex flex-col gap-0.5">
      {lostAttempts.map((attempt, index) => (
        <li key={attempt.startedAt}>
          {index + 1}: <ExactTime at={attempt.startedAt} />, {workerName(attempt.worker)}, which was lost after{' '}
          {duration(attempt.lostAt - attempt.startedAt)}
        </li>
      ))}
      <li>
        {lostAttempts.length + 1}: {startedAt !== undefined && <ExactTime at={startedAt} />}, {workerName(worker)}, with
        the same idempotency key
      </li>
      <li className="font-medium">{outcome === 'ok' ? 'Done once.' : 'Settled once.'}</li>
    </ol>
  );
}

/** The grants are on the page of their agent. */
function GrantLink({ id }: { id: string }): ReactElement {
  const { data } = useQuery(grantById(id));
  if (data === undefined) return <>grant</>;
  return (
    <Link to="/agents/$id" params={{ id: data.agentId }} search={{ tab: 'grants' }} className="link">
      grant of {withVisibleControls(data.grantedByName ?? 'an operator')}
    </Link>
  );
}

function settledInWords({ outcome }: CallRow, settledAt: number | undefined): React.ReactNode {
  if (outcome === 'running') return 'not yet';
  if (outcome === 'waiting' && settledAt === undefined) return 'not yet: it waits';
  return (
    <>
      once{outcome === 'unknown' && ', as unknown'}
      {settledAt !== undefined && (
        <>
          , <ExactTime at={settledAt} />
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

/** The worker that ended it, or that runs it now. */
function workerOf({ endSeq }: CallRow, { worker, takeovers = [] }: Run): string | undefined {
  if (endSeq === undefined || takeovers.length === 0) return worker;
  const after = takeovers.findLast(({ afterSeq }) => afterSeq < endSeq);
  return after === undefined ? takeovers[0]?.from : after.to;
}

/** Who was asked, whose answer counted, and which answers came too late. */
function Race({ call, pending }: { call: Call; pending: PendingCall }): ReactElement {
  const { status, answer, resolvedAt, lateAnswers = [] } = pending;
  const { data: next } = useQuery({ ...runOfAnswer(pending), enabled: status === 'resolved' });
  return (
    <section aria-label="Who answered" className="flex flex-col gap-2">
      <h3 className="text-xs font-medium text-quiet">Who answered</h3>
      <p>
        <bdi>{withVisibleControls(sentence(waitInWords(call)))}</bdi>
        {resolvedAt !== undefined && (
          <>
            , <ExactTime at={resolvedAt} />
          </>
        )}
        {next != null && (
          <>
            {': '}
            <Link to="/runs/$id" params={{ id: next.id }} className="link">
              run {next.number}
            </Link>
          </>
        )}
      </p>
      {answer !== undefined && <JsonText value={answer} label="The answer that counted" />}
      {lateAnswers.map((late) => (
        <p key={`${late.by} ${late.at}`} className="text-quiet">
          <bdi>{withVisibleControls(whoAnswered({ resolvedBy: late.by, resolvedByName: late.byName }))}</bdi> said{' '}
          <del>{withVisibleControls(saidInWords(late.answer))}</del>{' '}
          {resolvedAt === undefined ? 'after its end' : `${duration(Math.max(0, late.at - resolvedAt))} later`}: it was
          kept, and changed nothing.
        </p>
      ))}
    </section>
  );
}

function sentence(words: string): string {
  return words.startsWith('for ') ? `It waits ${words}` : words;
}
