import { createElement as h, type ReactElement, type ReactNode, type SyntheticEvent } from 'react';
import { type InputPart, isFields, MAX_DEPTH } from './input-parts.ts';
import type { ShownInput } from './use-shown-input.ts';
import { withVisibleControls } from './visible-text.ts';

/** The question, and every field of the input by its label. Long ones are documents that open; nothing is truncated. */
export function CardInput({ shown }: { readonly shown: ShownInput }): ReactElement {
  const { question, parts } = shown;
  const fields = parts.flatMap((part) => [
    h('dt', { key: `${part.path} label` }, ...labelOf(part)),
    h('dd', { key: part.path }, h(Part, { part, shown })),
  ]);
  return h(
    'div',
    null,
    question === undefined ? null : h(Part, { part: question, shown }),
    parts.length === 0 ? null : h('dl', { 'aria-label': 'Input' }, fields),
  );
}

function labelOf({ label, name, description }: InputPart): readonly ReactNode[] {
  return [
    withVisibleControls(label),
    name === undefined ? null : h('code', null, ` ${withVisibleControls(name)}`),
    description === undefined ? null : h('small', { style: BLOCK }, withVisibleControls(description)),
  ];
}

function Part({ part, shown }: { readonly part: InputPart; readonly shown: ShownInput }): ReactElement {
  const value = h(Value, { value: part.value });
  if (!part.isLong) return value;
  const onToggle = ({ currentTarget }: SyntheticEvent<HTMLDetailsElement>): void => {
    if (currentTarget.open) shown.open(part);
  };
  return h(
    'details',
    { onToggle },
    h('summary', null, `Show all ${lengthInWords(part.value)}`),
    // A scrolling element must be reachable by keyboard, and have a name.
    h('section', { 'aria-label': withVisibleControls(part.label), tabIndex: 0, style: DOCUMENT }, value),
  );
}

function lengthInWords(value: unknown): string {
  if (typeof value === 'string') return `${value.length.toLocaleString('en')} characters`;
  const count = Object.keys(value as object).length.toLocaleString('en');
  return Array.isArray(value) ? `${count} items` : `${count} fields`;
}

/** Shows a whole value: fields by name, lists item by item, texts with their line breaks. */
export function Value({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }): ReactElement {
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH)
    return h('div', { style: TEXT }, withVisibleControls(toText(value)));
  const inner = (one: unknown): ReactElement => h(Value, { value: one, depth: depth + 1 });
  if (!isFields(value)) return h('ol', null, ...(value as readonly unknown[]).map((one) => h('li', null, inner(one))));
  const fields = Object.entries(value).flatMap(([name, one]) => [
    h('dt', null, withVisibleControls(name)),
    h('dd', null, inner(one)),
  ]);
  return h('dl', null, ...fields);
}

/** Without this, the browser would join lines and let long ones overflow. */
const TEXT = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const;
const BLOCK = { display: 'block' } as const;
const DOCUMENT = { maxHeight: '60vh', overflowY: 'auto' } as const;

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
