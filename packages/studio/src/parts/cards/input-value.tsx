import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { isFields } from './is-fields.ts';

/** Values nested deeper than this are shown as JSON. */
const MAX_DEPTH = 6;

/** A whole value of an input: texts with their line breaks, lists with all their items, fields by name. */
export function InputValue({ value, depth = 0 }: { value: unknown; depth?: number }): ReactElement {
  if (typeof value === 'string') return value === '' ? <Plain text='""' /> : <Text text={value} />;
  if (typeof value !== 'object' || value === null) return <Plain text={JSON.stringify(value) ?? 'nothing'} />;
  if (depth >= MAX_DEPTH || Object.keys(value).length === 0) return <Plain text={JSON.stringify(value, null, 2)} />;
  return isFields(value) ? <Fields fields={value} depth={depth} /> : <Items items={value as []} depth={depth} />;
}

function Text({ text }: { text: string }): ReactElement {
  return (
    <div dir="auto" className="whitespace-pre-wrap">
      {withVisibleControls(text)}
    </div>
  );
}

/** Shows values other than text as JSON, so that `false` and the text "false" differ. */
function Plain({ text }: { text: string }): ReactElement {
  return <div className="font-mono text-[0.93em] whitespace-pre-wrap">{withVisibleControls(text)}</div>;
}

function Fields({ fields, depth }: { fields: Readonly<Record<string, unknown>>; depth: number }): ReactElement {
  return (
    <dl className="flex flex-col gap-1 border-l-2 border-line pl-2">
      {Object.entries(fields).map(([name, value]) => (
        <div key={name} className="flex min-w-0 flex-wrap gap-x-2">
          <dt className="text-quiet">
            <bdi>{withVisibleControls(name)}</bdi>
          </dt>
          <dd className="min-w-0">
            <InputValue value={value} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Items({ items, depth }: { items: readonly unknown[]; depth: number }): ReactElement {
  return (
    <ol className="flex list-decimal flex-col gap-1 pl-8 marker:text-quiet">
      {items.map((item, index) => (
        <li key={index}>
          <InputValue value={item} depth={depth + 1} />
        </li>
      ))}
    </ol>
  );
}
