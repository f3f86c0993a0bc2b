import { createElement as h, type ReactElement } from 'react';
import { withVisibleControls } from './visible-text.ts';

/** Shows a whole value: fields by name, lists item by item, texts with their line breaks. Nothing is truncated. */
export function InputFields({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }): ReactElement {
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH)
    return h('div', { style: TEXT }, withVisibleControls(toText(value)));
  const inner = (one: unknown): ReactElement => h(InputFields, { value: one, depth: depth + 1 });
  if (Array.isArray(value)) return h('ol', null, ...value.map((one) => h('li', null, inner(one))));
  const fields = Object.entries(value).flatMap(([name, one]) => [
    h('dt', null, withVisibleControls(name)),
    h('dd', null, inner(one)),
  ]);
  return h('dl', null, ...fields);
}

/** Without this, the browser would join lines and let long ones overflow. */
const TEXT = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const;

/** Values nested deeper than this are shown as JSON. */
const MAX_DEPTH = 6;

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
