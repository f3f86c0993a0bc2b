import { withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, useMemo } from 'react';
import { JsonText } from '../../parts/text/safe-text.tsx';
import { schemaRows } from './schema-rows.ts';

/** A schema as a list of fields, with the whole schema as JSON below. */
export function SchemaView({ title, schema }: { title: string; schema: unknown }): ReactElement {
  const rows = useMemo(() => schemaRows(schema), [schema]);
  return (
    <div className="flex flex-col gap-1">
      <h3 className="text-sm font-medium">{title}</h3>
      {rows !== undefined && rows.length === 0 && <p className="text-quiet">Nothing.</p>}
      {rows !== undefined && (
        <dl className="flex flex-col">
          {rows.map(({ path, type, isRequired, rules, description }) => (
            <div
              key={path}
              className="grid gap-x-4 border-b border-line py-1.5 last:border-b-0 wide:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]"
            >
              <dt className="font-mono text-xs leading-5">{withVisibleControls(path)}</dt>
              <dd>
                <span className="text-sm">
                  {withVisibleControls([type, ...rules].join(', '))}
                  {!isRequired && <span className="text-quiet"> (optional)</span>}
                </span>
                {description !== undefined && (
                  <span className="block text-xs text-quiet">{withVisibleControls(description)}</span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <details open={rows === undefined}>
        <summary className="text-xs text-quiet">JSON Schema</summary>
        <JsonText value={schema} label={`${title} schema`} />
      </details>
    </div>
  );
}
