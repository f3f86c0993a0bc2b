import type { EvaluationDetails } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { deleteEvaluation, evaluationById } from '../../data/evaluations.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Page, Section } from '../../parts/ui/page.tsx';
import { ScrollRegion } from '../../parts/ui/scroll-region.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { Cost } from '../../parts/usage/cost.tsx';
import { CaseList } from './case-list.tsx';
import { HowTo } from './how-to.tsx';
import { ResultMatrix } from './result-matrix.tsx';
import { changeInWords, intervalInWords, percent } from './score-words.ts';

/** One evaluation: the scores of its versions, its cases in each of them, and the stored cases. */
export function EvaluationPage(): ReactElement {
  const { id } = useParams({ from: '/evaluations/$id' });
  const { data, error, refetch } = useQuery(evaluationById(id));
  return (
    <Page title={data?.name ?? 'Evaluation'} aside={data && <Delete evaluation={data} />}>
      <Requires scope="read" to="see evaluations">
        {error !== null && data === undefined && (
          <ErrorNote error={error} title="The evaluation could not be read." retry={() => void refetch()} />
        )}
        {data !== undefined && <Results evaluation={data} />}
        {data !== undefined && <CaseList evaluationId={id} />}
      </Requires>
    </Page>
  );
}

function Results({ evaluation }: { evaluation: EvaluationDetails }): ReactElement {
  if (evaluation.versions.length === 0) return <HowTo title="No results yet." name={evaluation.name} />;
  return (
    <>
      <Section title="Versions">
        <Versions evaluation={evaluation} />
        <p className="text-sm text-quiet">
          The interval has the true value with a confidence of 95 %. A change is compared case by case with the version
          before. One that chance alone would bring about in one of twenty comparisons, or more often, may be chance.
        </p>
      </Section>
      <Section title="Cases, worst first">
        <ResultMatrix evaluationId={evaluation.id} versions={evaluation.versions} />
      </Section>
    </>
  );
}

const COLUMNS = ['Version', 'Sent', 'Score', 'Mean', '95 % interval', 'Cases', 'Change', 'Tokens', 'Cost'];

function Versions({ evaluation: { versions } }: { evaluation: EvaluationDetails }): ReactElement {
  return (
    <ScrollRegion label="Versions" isWhole>
      <table className="w-full text-left text-sm whitespace-nowrap tabular-nums">
        <caption className="sr-only">Scores of each version</caption>
        <thead className="text-xs text-quiet">
          <tr>
            {COLUMNS.map((column) => (
              <th key={column} scope="col" className="py-1 pr-4 font-medium">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        {versions.map(({ id, version, createdAt, scores, failed, change = {}, tokens, cost }) => (
          <tbody key={id} className="border-t border-line align-top">
            {Object.keys(scores).length === 0 && (
              <tr>
                <th scope="row" className="max-w-64 truncate py-1 pr-4 font-medium">
                  <bdi>{withVisibleControls(version)}</bdi>
                </th>
                <td className="py-1 pr-4">
                  <Time at={createdAt} />
                </td>
                <td colSpan={COLUMNS.length - 2} className="py-1 pr-4 text-bad">
                  {`No scores: ${failed} ${failed === 1 ? 'run' : 'runs'} failed.`}
                </td>
              </tr>
            )}
            {Object.entries(scores).map(([score, found], index) => {
              const changed = change[score];
              return (
                <tr key={score}>
                  <th scope="row" className="max-w-64 truncate py-1 pr-4 font-medium">
                    <span className={index === 0 ? '' : 'sr-only'}>
                      <bdi>{withVisibleControls(version)}</bdi>
                    </span>
                    {index === 0 && failed > 0 && <span className="block text-xs text-bad">{failed} failed</span>}
                  </th>
                  <td className="py-1 pr-4">{index === 0 && <Time at={createdAt} />}</td>
                  <td className="py-1 pr-4">
                    <bdi>{withVisibleControls(score)}</bdi>
                  </td>
                  <td className="py-1 pr-4">{percent(found.mean)}</td>
                  <td className="py-1 pr-4">{intervalInWords(found)}</td>
                  <td className="py-1 pr-4">{found.n}</td>
                  <td className={`py-1 pr-4 ${LOOK[changed?.verdict ?? 'same']}`}>
                    {changed === undefined ? '' : changeInWords(changed)}
                  </td>
                  <td className="py-1 pr-4">{index === 0 && tokens !== undefined ? tokens.toLocaleString() : ''}</td>
                  <td className="py-1 pr-4">{index === 0 && cost !== undefined && <Cost of={cost} />}</td>
                </tr>
              );
            })}
          </tbody>
        ))}
      </table>
    </ScrollRegion>
  );
}

const LOOK = { better: 'text-ok', worse: 'text-bad', 'may be chance': 'text-quiet', same: 'text-quiet' } as const;

function Delete({ evaluation: { id, name } }: { evaluation: EvaluationDetails }): ReactElement | null {
  const mayWrite = useMay('write');
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  if (!mayWrite) return null;
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          action="Delete it"
          isDanger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await deleteEvaluation(id);
            await navigate({ to: '/evaluations' });
          }}
        >
          <p>Its stored cases and all results are deleted. Runs stay.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
