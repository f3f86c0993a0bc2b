import type { ComparedReport, EvaluationResult } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { evaluationResults } from '../../data/evaluations.ts';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { ScrollRegion } from '../../parts/ui/scroll-region.tsx';
import { duration } from '../../parts/ui/time.tsx';
import { Cost } from '../../parts/usage/cost.tsx';
import { type Cell, cellInWords, percent, type Sample, worstSample } from './score-words.ts';

interface ResultMatrixProps {
  readonly evaluationId: string;
  readonly versions: readonly ComparedReport[];
}

/** A row for each case and a column for each version. A cell leads to its run. */
export function ResultMatrix({ evaluationId, versions }: ResultMatrixProps): ReactElement | null {
  const query = evaluationResults(evaluationId, versions);
  const { data, error, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(query);
  const rows = data?.pages.flatMap(({ items }) => items);
  if (rows === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The results could not be read." retry={() => void refetch()} />
    );
  return (
    <>
      <ScrollRegion label="Cases and versions" isWhole>
        <table className="w-full text-left text-sm tabular-nums">
          <caption className="sr-only">The score of each case in each version</caption>
          <thead className="text-xs text-quiet">
            <tr>
              <th scope="col" className="py-1 pr-2 font-medium">
                Case
              </th>
              {versions.map(({ id, version }) => (
                <th key={id} scope="col" className="max-w-40 truncate px-2 py-1 font-medium">
                  <bdi>{withVisibleControls(version)}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          {rows.map((row) => (
            <Row key={row.case} row={row} versions={versions} />
          ))}
        </table>
      </ScrollRegion>
      {hasNextPage && (
        <div>
          <Button onClick={() => void fetchNextPage()}>Show more cases</Button>
        </div>
      )}
    </>
  );
}

function Row({ row, versions }: { row: EvaluationResult; versions: readonly ComparedReport[] }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const Icon = isOpen ? ChevronDown : ChevronRight;
  const byReport = new Map(row.cells.map((cell) => [cell.reportId, cell]));
  return (
    <tbody className="border-t border-line">
      <tr className="hover:bg-raised">
        <th scope="row" className="max-w-56 py-1 pr-2 font-normal wide:max-w-96">
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="flex min-h-6 w-full min-w-0 items-center gap-1 text-left"
          >
            <Icon size={16} aria-hidden className="shrink-0 text-quiet" />
            <bdi className="truncate">{withVisibleControls(row.case)}</bdi>
          </button>
        </th>
        {versions.map(({ id, version }) => (
          <td key={id} className="px-2 py-1 whitespace-nowrap">
            <CellLink cell={byReport.get(id)} about={`${row.case} in ${version}`} />
          </td>
        ))}
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={versions.length + 1} className="pt-1 pb-3 whitespace-normal">
            <div className="grid gap-3 wide:grid-cols-2">
              {versions.flatMap(({ id, version }) => {
                const cell = byReport.get(id);
                return cell === undefined ? [] : [<CellDetails key={id} version={version} cell={cell} />];
              })}
            </div>
          </td>
        </tr>
      )}
    </tbody>
  );
}

/** One click from its run. Of several runs, the worst. */
function CellLink({ cell, about }: { cell: Cell | undefined; about: string }): ReactElement {
  if (cell === undefined) return <span className="text-quiet">–</span>;
  const words = cellInWords(cell);
  const colour = cell.value === 1 && words !== 'failed' ? 'text-ok' : 'text-bad';
  const runId = worstSample(cell)?.runId;
  if (runId === undefined) return <span className={colour}>{words}</span>;
  return (
    <Link
      to="/runs/$id"
      params={{ id: runId }}
      search={{}}
      aria-label={withVisibleControls(`${words}, the run of ${about}`)}
      className={`inline-flex min-h-6 items-center underline ${colour}`}
    >
      {words}
    </Link>
  );
}

function CellDetails({ version, cell }: { version: string; cell: Cell }): ReactElement {
  return (
    <section aria-label={version} className="flex min-w-0 flex-col gap-1 rounded border border-line bg-surface p-2">
      <h3 className="truncate font-medium">
        <bdi>{withVisibleControls(version)}</bdi>
      </h3>
      {cell.samples.map((sample) => (
        <SampleDetails key={sample.sample} sample={sample} />
      ))}
    </section>
  );
}

function SampleDetails({ sample }: { sample: Sample }): ReactElement {
  const { scores, response, error, calls = [], ms, cost, tokens, runId } = sample;
  return (
    <div className="flex min-w-0 flex-col gap-1 border-t border-line pt-1 first-of-type:border-t-0">
      <ul className="flex flex-col">
        {Object.entries(scores).map(([name, { value, reason }]) => (
          <li key={name} dir="auto" className={value === 1 ? '' : 'text-bad'}>
            {withVisibleControls(name)} {percent(value)}
            {reason !== undefined && <span className="text-quiet"> {withVisibleControls(reason)}</span>}
          </li>
        ))}
      </ul>
      {error !== undefined && (
        <p dir="auto" className="wrap-anywhere text-bad">
          {withVisibleControls(error)}
        </p>
      )}
      {response !== undefined && (
        <p dir="auto" className="max-h-40 overflow-y-auto wrap-anywhere whitespace-pre-wrap">
          {withVisibleControls(response)}
        </p>
      )}
      <p className="flex flex-wrap gap-x-3 text-xs text-quiet">
        {calls.length > 0 && <span>{calls.map(({ toolName }) => withVisibleControls(toolName)).join(', ')}</span>}
        <span>{duration(ms)}</span>
        {tokens !== undefined && <span>{tokens.toLocaleString()} tokens</span>}
        {cost !== undefined && (
          <span>
            cost <Cost of={cost} />
          </span>
        )}
        {runId !== undefined && (
          <Link to="/runs/$id" params={{ id: runId }} search={{}} className="link">
            open the run
          </Link>
        )}
      </p>
    </div>
  );
}
