import { type CardProps, withVisibleControls } from '@lastcall/client/react';
import { LoaderCircle } from 'lucide-react';
import type { ReactElement } from 'react';
import { Attachments } from '../files/attachments.tsx';
import { imagesIn } from '../files/images-in.ts';
import { JsonText, SafeText } from '../text/safe-text.tsx';
import { duration, Time } from '../ui/time.tsx';
import { answerInWords, resultInWords } from './call-shape.ts';
import { Progress } from './progress.tsx';
import { isApprovedOnly } from './status-of.ts';

/** How a call ended: who answered what, its result, and the answers that did not count. */
export function CardEnd(props: CardProps): ReactElement {
  return (
    <div className="flex flex-col gap-2">
      <Said {...props} />
      <Outcome {...props} />
    </div>
  );
}

function Said({ call, state }: CardProps): ReactElement | null {
  if (state.status === 'lost') return <Lost state={state} />;
  const isDenied = call.decision === 'deny';
  const words =
    isDenied && state.status === 'cancelled'
      ? `Denied: ${state.reason}`
      : call.decision === 'approve'
        ? call.askedInput === undefined
          ? approvedInWords(call)
          : 'Approved with changes'
        : call.decision === undefined
          ? state.status === 'answered'
            ? answerInWords(state.given)
            : undefined
          : resultInWords(call.output);
  if (words === undefined) return null;
  return (
    <p className="flex flex-wrap items-baseline gap-x-2">
      <span className="font-medium">{withVisibleControls(words)}</span>
      <SaidBy call={call} />
    </p>
  );
}

function approvedInWords({ grantId, givenGrantId }: CardProps['call']): string {
  if (grantId !== undefined) return 'Allowed by a grant of';
  return givenGrantId === undefined ? 'Approved' : 'Approved, with a grant for later calls';
}

function SaidBy({ call: { by, at } }: Pick<CardProps, 'call'>): ReactElement | null {
  if (by === undefined) return null;
  return (
    <span className="text-sm text-quiet">
      <bdi>{withVisibleControls(by.name)}</bdi>
      {at !== undefined && (
        <>
          , <Time at={at} />
        </>
      )}
    </span>
  );
}

function Lost({ state }: { state: Extract<CardProps['state'], { status: 'lost' }> }): ReactElement {
  const earlier = state.byMs < 100 ? 'just before you' : `${duration(state.byMs)} before you`;
  return (
    <div role="status" className="flex flex-col gap-1">
      <p>
        <bdi className="font-medium">{withVisibleControls(state.by.name)}</bdi> answered{' '}
        <span className="font-medium">{withVisibleControls(answerInWords(state.answer))}</span> {earlier}.
      </p>
      <p className="text-sm text-quiet">
        <del>{withVisibleControls(answerInWords(state.given))}</del> did not count.
      </p>
    </div>
  );
}

/** What the tool did, or why it did nothing. */
function Outcome({ call, state }: CardProps): ReactElement | null {
  switch (state.status) {
    case 'running':
      return isApprovedOnly(call) ? <NoResult /> : <Progress value={call.progress} />;
    case 'answered':
      return <Working words="The gateway has it." />;
    case 'error':
      return <p className="text-bad">{withVisibleControls(resultInWords(call.output))}</p>;
    case 'expired':
      return <Ended words="Expired: no answer came in time." at={call.expiresAt} isKept={state.given !== undefined} />;
    case 'cancelled':
      return call.decision === 'deny' ? null : (
        <Ended
          words={state.reason === '' ? 'Cancelled: it no longer waits for an answer.' : `Cancelled: ${state.reason}`}
          isKept={state.given !== undefined}
        />
      );
    case 'complete':
      return call.kind === 'approval' ? <Result output={call.output} /> : null;
    default:
      return null;
  }
}

function NoResult(): ReactElement {
  return <p className="text-sm text-quiet">There is no result yet.</p>;
}

function Result({ output }: { output: unknown }): ReactElement | null {
  if (output === undefined) return null;
  return (
    <>
      {typeof output === 'string' ? (
        <SafeText text={output} className="text-sm" />
      ) : (
        <JsonText value={output} label="Result" />
      )}
      <Attachments files={imagesIn(output)} />
    </>
  );
}

function Working({ words }: { words: string }): ReactElement {
  return (
    <p role="status" className="flex items-center gap-1 text-sm text-quiet">
      <LoaderCircle size={16} aria-hidden className="motion-safe:animate-spin" /> {words}
    </p>
  );
}

function Ended({ words, at, isKept }: { words: string; at?: number | undefined; isKept: boolean }): ReactElement {
  return (
    <p className="text-quiet">
      {withVisibleControls(words)} {at !== undefined && <Time at={at} />}
      {isKept && (
        <span role="status"> Your answer came too late. It was kept for operators; the agent does not see it.</span>
      )}
    </p>
  );
}
