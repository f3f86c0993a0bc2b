import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { asText, fieldsThatDiffer } from '../../../parts/form/changes-between.ts';
import { readable } from '../../../parts/form/field.ts';
import { LineDiff } from '../../../parts/ui/line-diff.tsx';

interface ConfigDiffProps {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/** What differs between two configurations, field by field. */
export function ConfigDiff({ before, after }: ConfigDiffProps): ReactElement {
  const names = fieldsThatDiffer(before, after);
  if (names.length === 0) return <p className="text-quiet">They are the same.</p>;
  return (
    <div className="flex flex-col gap-3">
      {names.map((name) => (
        <div key={name} className="flex flex-col gap-1">
          <h3 className="text-sm font-medium">{withVisibleControls(readable(name))}</h3>
          <LineDiff label={`Changes of ${name}`} before={asText(before[name])} after={asText(after[name])} />
        </div>
      ))}
    </div>
  );
}
