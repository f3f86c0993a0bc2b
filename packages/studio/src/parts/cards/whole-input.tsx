import { type InputPart, type ShownInput, withVisibleControls } from '@lastcall/client/react';
import { type ReactElement, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { InputValue } from './input-value.tsx';
import { isFields } from './is-fields.ts';

/** Every field of an input by its label. Long fields are closed until the user opens them; nothing is truncated. */
export function WholeInput({ shown }: { shown: ShownInput }): ReactElement {
  if (shown.parts.length === 0) return <p className="text-quiet">without any input</p>;
  return (
    <dl aria-label="Input" className="flex flex-col divide-y divide-line rounded border border-line">
      {shown.parts.map((part) => (
        <div key={part.path} className={`grid min-w-0 gap-x-4 gap-y-0.5 px-3 py-2 ${part.isLong ? '' : SHORT}`}>
          <dt className="text-sm text-quiet">
            <Label part={part} />
          </dt>
          <dd className={`min-w-0 ${part.isLong ? '' : 'text-lg font-medium'}`}>
            <Part part={part} shown={shown} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A short value stands beside its label. */
const SHORT = 'wide:grid-cols-[12rem_minmax(0,1fr)] wide:items-baseline';

function Label({ part: { label, name, description } }: { part: InputPart }): ReactElement {
  return (
    <>
      <bdi className="font-medium text-text">{withVisibleControls(label)}</bdi>
      {name !== undefined && <bdi className="ml-1.5 font-mono">{withVisibleControls(name)}</bdi>}
      {description !== undefined && <span className="block">{withVisibleControls(description)}</span>}
    </>
  );
}

/** A part as it is, or closed with its beginning and its length. */
export function Part({ part, shown }: { part: InputPart; shown: ShownInput }): ReactElement {
  const [isNew, setNew] = useState(false);
  if (!part.isLong) return <InputValue value={part.value} />;
  if (shown.isOpen(part))
    return (
      <Document label={part.label} hasFocus={isNew}>
        <InputValue value={part.value} />
      </Document>
    );
  const open = (): void => {
    setNew(true);
    shown.open(part);
  };
  return (
    <div className="flex flex-col items-start gap-1">
      {typeof part.value === 'string' && <Beginning text={part.value} />}
      <Button onClick={open}>
        Show all {lengthInWords(part.value)}
        <span className="sr-only"> of {withVisibleControls(part.label)}</span>
      </Button>
    </div>
  );
}

/** A long text that was opened. It scrolls by itself, and takes the focus from the button that opened it. */
function Document({
  label,
  hasFocus,
  children,
}: {
  label: string;
  hasFocus: boolean;
  children: ReactNode;
}): ReactElement {
  const element = useRef<HTMLElement>(null);
  // This runs before the list of a space is measured: the list must not scroll to its end past the part that was just
  // opened.
  useLayoutEffect(() => {
    if (hasFocus) element.current?.focus({ preventScroll: true });
  }, [hasFocus]);
  return (
    <section
      ref={element}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
      tabIndex={0}
      aria-label={withVisibleControls(label)}
      data-document
      className="max-h-[60vh] overflow-y-auto rounded border border-line bg-surface p-2"
    >
      {children}
    </section>
  );
}

function Beginning({ text }: { text: string }): ReactElement {
  const lines = text.slice(0, BEGINNING).split('\n').slice(0, 3).join('\n');
  return (
    <span dir="auto" className="whitespace-pre-wrap text-quiet">
      {withVisibleControls(lines)} …
    </span>
  );
}

const BEGINNING = 160;

function lengthInWords(value: unknown): string {
  if (typeof value === 'string') return `${value.length.toLocaleString('en')} characters`;
  if (Array.isArray(value)) return `${value.length.toLocaleString('en')} items`;
  return isFields(value) ? `${Object.keys(value).length.toLocaleString('en')} fields` : 'of it';
}

/** Why a button is disabled: parts that were not shown must not be approved. `word` is the button's label. */
export function ClosedNote({ shown, word }: { shown: ShownInput; word: string }): ReactElement | null {
  if (shown.closed === 0) return null;
  return (
    <p id={shown.reasonId} role="status" className="text-sm text-wait">
      {word} is off until you have opened all of the input:{' '}
      {shown.closed === 1 ? '1 part is closed.' : `${shown.closed} parts are closed.`}
    </p>
  );
}
