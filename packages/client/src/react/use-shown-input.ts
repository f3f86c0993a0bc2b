import { useCallback, useId, useMemo, useState } from 'react';
import { questionOf } from './answer-shape.ts';
import type { Card } from './card.ts';
import { type InputPart, inputParts, isFields, partOf } from './input-parts.ts';

/** The input of a call, and which parts of it the user has opened. */
export interface ShownInput {
  readonly question: InputPart | undefined;
  readonly parts: readonly InputPart[];
  isOpen(part: InputPart): boolean;
  open(part: InputPart): void;
  /** How many parts are still closed. Nothing can be approved before it is shown. */
  readonly closed: number;
  /** The id of the sentence that says so. */
  readonly reasonId: string;
}

/** In an approval every text of the input is a field. In a question one of them is the question. */
export function useShownInput({
  input,
  resultSchema,
  kind,
}: Pick<Card, 'input' | 'kind'> & Partial<Pick<Card, 'resultSchema'>>): ShownInput {
  const { question, parts } = useMemo(
    () => (kind === 'approval' ? { parts: inputParts(input, resultSchema), question: undefined } : askedParts(input)),
    [input, resultSchema, kind],
  );
  const [opened, setOpened] = useState<ReadonlyMap<string, unknown>>(new Map());
  // An opened part counts for its value: another value at the same place has to be opened too.
  const isOpen = useCallback(
    ({ path, value, isLong }: InputPart) => !isLong || (opened.has(path) && isSame(opened.get(path), value)),
    [opened],
  );
  const open = useCallback(
    ({ path, value }: InputPart) => setOpened((before) => new Map([...before, [path, value]])),
    [],
  );
  const all = question === undefined ? parts : [question, ...parts];
  return { question, parts, isOpen, open, closed: all.filter((part) => !isOpen(part)).length, reasonId: useId() };
}

function isSame(one: unknown, other: unknown): boolean {
  return Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other);
}

function askedParts(input: unknown): Pick<ShownInput, 'question' | 'parts'> {
  if (input === undefined) return { question: undefined, parts: [] };
  if (typeof input !== 'string' && !isFields(input)) return { question: undefined, parts: inputParts(input) };
  const { question, rest } = questionOf(input);
  return {
    question: question === undefined ? undefined : partOf('Question', '?', question),
    parts: Object.keys(rest).length === 0 ? [] : inputParts(rest),
  };
}
