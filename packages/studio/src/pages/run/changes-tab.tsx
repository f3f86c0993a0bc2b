import type { Change } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow } from '@lastcall/client/timeline';
import type { ReactElement } from 'react';
import { ScrollRegion } from '../../parts/ui/scroll-region.tsx';

/** The changes of the call that remain, and those that were rolled back. */
export function ChangesTab({ call: { changes, outcome } }: { call: CallRow }): ReactElement {
  if (changes === undefined)
    return (
      <p className="text-quiet">
        It changed nothing that is stored with the run. Effects outside the gateway are not listed here
        {outcome === 'ok' ? ': see its output.' : '.'}
      </p>
    );
  return (
    <div className="grid gap-4 wide:grid-cols-2">
      <List title="Committed" empty="Nothing was committed." changes={changes.committed} />
      <List title="Discarded" empty="Nothing was discarded." changes={changes.discarded} isDiscarded />
    </div>
  );
}

interface ListProps {
  readonly title: string;
  readonly empty: string;
  readonly changes: readonly Change[];
  readonly isDiscarded?: boolean;
}

function List({ title, empty, changes, isDiscarded = false }: ListProps): ReactElement {
  const Text = isDiscarded ? 'del' : 'span';
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-1">
      <h3 className="text-xs font-medium text-quiet">{title}</h3>
      {changes.length === 0 ? (
        <p className="text-quiet">{empty}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded border border-line">
          {changes.map((change) => (
            <li key={`${change.kind} ${change.name}`} className="flex flex-col px-2 py-1">
              <Text className={isDiscarded ? 'text-quiet' : ''}>
                {change.kind} <bdi className="font-medium">{withVisibleControls(change.name)}</bdi>
                {change.count > 1 && ` × ${change.count}`}
              </Text>
              {change.diff !== undefined && <ChangedLines name={change.name} diff={change.diff} />}
              {change.sample !== undefined && change.diff === undefined && (
                <Text dir="auto" className="truncate font-mono text-xs text-quiet">
                  {withVisibleControls(sampleOf(change.sample))}
                </Text>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The lines of a file that changed. A sign repeats what the colour says. */
function ChangedLines({ name, diff }: { name: string; diff: string }): ReactElement {
  return (
    <ScrollRegion label={`Changed lines of ${name}`}>
      <div className="font-mono text-xs whitespace-pre-wrap">
        {diff.split('\n').map((line, index) => (
          <span key={index} className={`block ${LOOK[line[0] ?? ''] ?? 'text-quiet'}`}>
            {withVisibleControls(line)}
          </span>
        ))}
      </div>
    </ScrollRegion>
  );
}

const LOOK: Readonly<Record<string, string>> = { '+': 'text-ok', '-': 'text-bad' };

function sampleOf(sample: unknown): string {
  return (typeof sample === 'string' ? sample : (JSON.stringify(sample) ?? '')).slice(0, 300);
}
