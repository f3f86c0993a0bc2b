import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { checkValue, mergeProblems } from './check-value.ts';
import { type Draft, type Read, readDraft, readJson, toDraft } from './draft.ts';
import { type Field, toField } from './field.ts';
import { type Problem, withoutPrefix } from './path.ts';

/** A form that a JSON Schema describes: what is typed, what is wrong with it, and its value. Drawn by `SchemaForm`. */
export interface SchemaFormState {
  readonly field: Field;
  readonly draft: Draft;
  setDraft(draft: Draft): void;
  /** Everything as one JSON text instead of fields. */
  readonly json: string | undefined;
  setJson(json: string): void;
  /** Fields ↔ JSON. What is not JSON stays, with what is wrong. */
  switchMode(): void;
  readonly problems: readonly Problem[];
  /** What is typed now, as far as it can be read. */
  readonly value: unknown;
  /** The whole value, checked. Undefined: what is wrong stands at the fields, and the first of them has the focus. */
  read(): Promise<{ readonly value: unknown } | undefined>;
  /** Shows what the gateway says is wrong. `prefix`: where in its request the form's value was, e.g. `input`. */
  showProblems(problems: readonly Problem[], prefix?: string): void;
  readonly element: RefObject<HTMLDivElement | null>;
}

/** `initial`: what the form holds at first. Default: what the schema says. Give the component a new `key` to begin anew. */
export function useSchemaForm(schema: unknown, initial?: unknown): SchemaFormState {
  const field = useMemo(() => toField(schema), [schema]);
  const [draft, setDraft] = useState<Draft>(() => toDraft(field, initial));
  const [json, setJson] = useState<string | undefined>();
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const element = useRef<HTMLDivElement>(null);
  useFocusOnFirst(element, problems);
  const readNow = (): Read => (json === undefined ? readDraft(field, draft) : readJson(json));
  return {
    field,
    draft,
    setDraft,
    json,
    setJson,
    switchMode() {
      const now = readNow();
      if (json === undefined) setJson(JSON.stringify(now.value ?? null, null, 2));
      else if (now.problems.length > 0) return setProblems(now.problems);
      else setDraft(toDraft(field, now.value));
      if (json !== undefined) setJson(undefined);
      setProblems([]);
    },
    problems,
    value: readNow().value,
    async read() {
      const { value, problems: unread } = readNow();
      const found =
        json !== undefined && unread.length > 0 ? unread : mergeProblems(unread, await checkValue(schema, value));
      setProblems(found);
      return found.length === 0 ? { value } : undefined;
    },
    showProblems: (found, prefix = '') => setProblems(withoutPrefix(found, prefix)),
    element,
  };
}

function useFocusOnFirst(element: RefObject<HTMLDivElement | null>, problems: readonly Problem[]): void {
  useEffect(() => {
    if (problems.length > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [element, problems]);
}
