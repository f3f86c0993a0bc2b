import { withVisibleControls } from '@lastcall/client/react';
import { Link } from '@tanstack/react-router';
import { Square } from 'lucide-react';
import { type ReactElement, type ReactNode, useState } from 'react';
import { ForkWaits } from '../../../parts/run/fork-waits.tsx';
import { StatusMark } from '../../../parts/run/status-mark.tsx';
import { statusInWords } from '../../../parts/run/stop-sentence.ts';
import { tokensInWords, usageTitle } from '../../../parts/run/usage-words.ts';
import { Markdown } from '../../../parts/text/markdown.tsx';
import { SafeText } from '../../../parts/text/safe-text.tsx';
import { Button } from '../../../parts/ui/button.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { duration } from '../../../parts/ui/time.tsx';
import type { LiveTurn } from './live-turn.ts';
import { TurnComparison } from './turn-comparison.tsx';
import { configInWords, type TurnSummary } from './turn-summary.ts';
import type { Workbench } from './use-workbench.ts';

/** A message and what the draft answered. */
export function TurnView({ turn, children }: { turn: TurnSummary; children?: ReactNode }): ReactElement {
  return (
    <li className="flex min-w-0 flex-col gap-3">
      <div className="max-w-[85%] self-end rounded-card bg-selected px-3 py-2">
        <span className="sr-only">You: </span>
        <SafeText text={turn.message} />
      </div>
      {turn.answer !== undefined && (
        <article aria-label="Answer" className="min-w-0 leading-6">
          <Markdown text={turn.answer} />
        </article>
      )}
      {children}
      <Figures turn={turn} />
    </li>
  );
}

/** The turn that goes on, or was the last: with what it waits for, why it failed, and how it compares with the one before. */
export function NewestTurn({
  bench,
  live,
  turn,
}: {
  bench: Workbench;
  live: LiveTurn;
  turn: TurnSummary;
}): ReactElement {
  const { last, first, calls } = turn;
  const { status, stop } = last;
  const again = first.draft?.again;
  return (
    <TurnView turn={turn}>
      {(status === 'running' || status === 'queued') && <AtWork live={live} />}
      {status === 'waiting' && <ForkWaits run={last} rows={calls} onAnswered={(runId) => bench.show(runId)} isFramed />}
      {status === 'failed' && stop?.reason === 'error' && (
        <div role="alert" className="rounded border border-line bg-bad-soft p-3">
          <p className="max-h-40 overflow-y-auto">
            <span className="font-medium text-bad">It failed: </span>
            <SafeText text={stop.error} />
          </p>
          <p className="pt-1 text-sm text-quiet">Change what caused it, then send the last message again.</p>
        </div>
      )}
      {live.error !== undefined && <ErrorNote error={live.error} title="What the draft does cannot be read." />}
      {again !== undefined && turn.ms !== undefined && (
        <TurnComparison beforeId={again} now={turn} onShow={bench.show} />
      )}
    </TurnView>
  );
}

function AtWork({ live: { writing, cancel } }: { live: LiveTurn }): ReactElement {
  const [error, setError] = useState<unknown>();
  return (
    <>
      {writing !== '' && (
        // Read out once it is complete: a word at a time is of no use.
        <div aria-live="off" className="leading-6">
          <Markdown text={writing} />
        </div>
      )}
      <p className="flex items-center gap-2">
        <StatusMark run={{ status: 'running' }} />
        <span role="status">The draft is at work.</span>
        <Button onClick={() => void cancel().catch(setError)}>
          <Square size={16} aria-hidden /> Stop
        </Button>
      </p>
      {error !== undefined && <ErrorNote error={error} title="It was not stopped." />}
    </>
  );
}

/** Which configuration answered, how, with how many calls and tokens, and how long it took. */
function Figures({ turn: { first, last, calls, usage, ms } }: { turn: TurnSummary }): ReactElement {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-quiet tabular-nums">
      <span className="inline-flex items-center gap-1">
        <StatusMark run={last} />
        {withVisibleControls(statusInWords(last).text)}
      </span>
      <span>{withVisibleControls(configInWords(first))}</span>
      <span>{calls.length === 1 ? '1 call' : `${calls.length} calls`}</span>
      {usage !== undefined && <span title={usageTitle(usage)}>{tokensInWords(usage)} tokens</span>}
      {ms !== undefined && <span>{duration(ms)}</span>}
      <Link to="/runs/$id" params={{ id: last.id }} search={{}} className="link">
        run
      </Link>
    </p>
  );
}
