import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { type ComparedRow, compareValues } from './compare-values.ts';

interface SideBySideProps {
  readonly asked: unknown;
  readonly changed: unknown;
  readonly words: readonly [string, string];
}

/** The original and the changed input, field by field. Words repeat what the colours say. */
export function SideBySide({ asked, changed, words }: SideBySideProps): ReactElement {
  const rows = compareValues(asked, changed);
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr className="text-left text-xs text-quiet">
            <th className="py-1 pr-3 font-normal">Field</th>
            {words.map((word) => (
              <th key={word} className="py-1 pr-3 font-normal">
                {word}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.path} row={row} />
          ))}
        </tbody>
      </table>
      {rows.every(({ isSame }) => isSame) && <p className="pt-2 text-sm text-quiet">Nothing is changed.</p>}
    </div>
  );
}

function Row({ row: { path, before, after, isSame } }: { row: ComparedRow }): ReactElement {
  return (
    <tr className="border-t border-line align-top">
      <th className="max-w-32 py-1.5 pr-3 text-left font-mono text-xs font-normal text-quiet">
        {withVisibleControls(path === '' ? 'input' : path)}
      </th>
      <td className="py-1.5 pr-3">
        {isSame ? (
          <Value text={before} />
        ) : (
          <del className="text-bad">
            <Value text={before} />
          </del>
        )}
      </td>
      <td className="py-1.5">
        {isSame ? (
          <Value text={after} />
        ) : (
          <ins className="font-medium text-ok no-underline">
            <Value text={after} /> <span className="text-xs font-normal">changed</span>
          </ins>
        )}
      </td>
    </tr>
  );
}

function Value({ text }: { text: string | undefined }): ReactElement {
  return (
    <bdi className="wrap-anywhere whitespace-pre-wrap">{text === undefined ? '—' : withVisibleControls(text)}</bdi>
  );
}
