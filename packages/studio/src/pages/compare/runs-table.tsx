import { withVisibleControls } from '@lastcall/client/react';
import { toTimeline } from '@lastcall/client/timeline';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { endedRun } from '../../data/runs.ts';
import { changesInForkWords } from '../../parts/run/fork-words.ts';
import { statusInWords } from '../../parts/run/stop-sentence.ts';
import { tokensInWords } from '../../parts/run/usage-words.ts';
import { ScrollRegion } from '../../parts/ui/scroll-region.tsx';
import { duration } from '../../parts/ui/time.tsx';

interface RunsTableProps {
  /** The first is the original. */
  readonly ids: readonly string[];
  /** The run that is compared in detail. */
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

/** The original and its forks, one in each row: answer, calls, tokens and time. */
export function RunsTable({ ids, chosen, onChoose }: RunsTableProps): ReactElement {
  const results = useQueries({ queries: ids.map((id) => endedRun(id)) });
  return (
    <ScrollRegion label="All runs">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">The original and its forks</caption>
        <thead className="text-xs text-quiet">
          <tr>
            {['Run', 'Changed', 'End', 'Answer', 'Calls', 'Tokens', 'Time', 'Details'].map((name) => (
              <th key={name} scope="col" className="px-2 py-1 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {results.map(({ data }, index) => {
            const id = ids[index] as string;
            if (data === undefined) return null;
            const { run, entries } = data;
            const calls = toTimeline(run, entries).rows.filter(({ kind }) => kind === 'call').length;
            const { fork, response = '', usage, createdAt, endedAt } = run;
            return (
              <tr key={id} className="border-t border-line align-top">
                <th scope="row" className="px-2 py-1 font-medium whitespace-nowrap">
                  <Link to="/runs/$id" params={{ id }} search={{}} className="link">
                    {index === 0 ? 'Original' : `Fork ${index}`}
                  </Link>
                </th>
                <td className="px-2 py-1">
                  {fork === undefined ? '' : `at step ${fork.atStep}, ${changesInForkWords(fork.changes)}`}
                </td>
                <td className="px-2 py-1">{withVisibleControls(statusInWords(run).text)}</td>
                <td dir="auto" className="max-w-96 px-2 py-1">
                  <span className="line-clamp-3">{withVisibleControls(response)}</span>
                </td>
                <td className="px-2 py-1 tabular-nums">{calls}</td>
                <td className="px-2 py-1 tabular-nums">{usage === undefined ? '' : tokensInWords(usage)}</td>
                <td className="px-2 py-1 whitespace-nowrap tabular-nums">
                  {endedAt === undefined ? '' : duration(endedAt - createdAt)}
                </td>
                <td className="px-2 py-1">
                  {index > 0 && (
                    <label className="inline-flex items-center gap-1.5">
                      <input
                        type="radio"
                        name="compared"
                        className="accent-text"
                        checked={id === chosen}
                        onChange={() => onChoose(id)}
                      />
                      <span>
                        compare<span className="sr-only"> fork {index}</span>
                      </span>
                    </label>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
