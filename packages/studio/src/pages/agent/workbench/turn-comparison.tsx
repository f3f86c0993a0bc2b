import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { turnOf } from '../../../data/drafts.ts';
import { tokensInWords } from '../../../parts/run/usage-words.ts';
import { Button } from '../../../parts/ui/button.tsx';
import { LineDiff } from '../../../parts/ui/line-diff.tsx';
import { duration } from '../../../parts/ui/time.tsx';
import { callsInWords, configInWords, summaryOf, type TurnSummary } from './turn-summary.ts';

interface TurnComparisonProps {
  /** The run that answered the same message before. */
  readonly beforeId: string;
  readonly now: TurnSummary;
  readonly onShow: (runId: string) => void;
}

/** The answer, calls, tokens and time of the same message before and now. */
export function TurnComparison({ beforeId, now, onShow }: TurnComparisonProps): ReactElement | null {
  const { data } = useQuery(turnOf(beforeId));
  const before = data && summaryOf(data);
  if (before === undefined) return null;
  const isSame = before.answer === now.answer;
  return (
    <section
      aria-label="Compared with the answer before"
      className="flex flex-col gap-2 rounded-card border border-line bg-surface p-3"
    >
      <h3 className="font-semibold">Compared with the answer before</h3>
      {isSame ? (
        <p className="text-sm text-quiet">The answer is the same.</p>
      ) : (
        <LineDiff label="Answer before and now" before={before.answer ?? ''} after={now.answer ?? ''} />
      )}
      <table className="w-full text-left text-sm tabular-nums">
        <thead className="text-xs text-quiet">
          <tr>
            <td />
            <th scope="col" className="font-medium">
              before
            </th>
            <th scope="col" className="font-medium">
              now
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(({ name, of }) => (
            <tr key={name} className="border-t border-line align-top">
              <th scope="row" className="py-1 pr-3 font-normal text-quiet">
                {name}
              </th>
              <td className="py-1 pr-3">{withVisibleControls(of(before))}</td>
              <td className={`py-1 ${of(before) === of(now) ? '' : 'font-medium'}`}>{withVisibleControls(of(now))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="flex flex-wrap items-center gap-3 text-sm">
        <Link to="/runs/$id/compare/$other" params={{ id: before.first.id, other: now.first.id }} className="link">
          Compare the runs, call by call
        </Link>
        <Button kind="ghost" onClick={() => onShow(before.last.id)}>
          Go back to the answer before
        </Button>
      </p>
    </section>
  );
}

const ROWS: readonly { readonly name: string; readonly of: (turn: TurnSummary) => string }[] = [
  { name: 'Version', of: ({ first }) => configInWords(first) },
  { name: 'Calls', of: ({ calls }) => callsInWords(calls) },
  { name: 'Tokens', of: ({ usage }) => (usage === undefined ? '' : tokensInWords(usage)) },
  { name: 'Time', of: ({ ms }) => (ms === undefined ? '' : duration(ms)) },
];
