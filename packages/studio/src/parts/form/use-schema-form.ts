import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { checkValue, mergeProblems } from './check-value.ts';
import { type Draft, type Read, readDraft, readJson, toDraft } from './draft.ts';
import { type Field, toField } from './field.ts';
import { type Problem, withoutPrefix } from './path.ts';
import { useKept } from './use-kept.ts';

/** A form for a JSON Schema: the draft, its problems, and its value. Drawn by `SchemaForm`. */
export interface SchemaFormState {
  readonly field: Field;
  readonly draft: Draft;
  setDraft(draft: Draft): void;
  /** The whole value as one JSON text instead of fields. */
  readonly json: string | undefined;
  setJson(json: string): void;
  /** Switches between fields and JSON. Text that is not valid JSON stays, with its problem. */
  switchMode(): void;
  readonly problems: readonly Problem[];
  /** The current value, as far as it can be read. */
  readonly value: unknown;
  /**
   * The whole value, checked. If undefined, the problems are shown at the fields, and the first of them has the focus.
   */
  read(): Promise<{ readonly value: unknown } | undefined>;
  /**
   * Shows the problems that the gateway reported. `prefix` is where in the request the form's value was, e.g. `input`.
   */
  showProblems(problems: readonly Problem[], prefix?: string): void;
  readonly element: RefObject<HTMLDivElement | null>;
}

/** What the user has entered. */
interface Entered {
  /** The schema and the first value, as JSON. A draft of others could not be shown, or would hide that the input has changed. */
  readonly of: string;
  readonly draft: Draft;
  /** The value that the draft began with. */
  readonly before?: unknown;
  readonly json?: string | undefined;
}

/**
 * `initial` is the first value of the form. Default: the schema's defaults. Give the component a new `key` to start
 * over. With `name`, what is entered is kept while the tab is open.
 */
export function useSchemaForm(schema: unknown, initial?: unknown, name?: string): SchemaFormState {
  const field = useMemo(() => toField(schema), [schema]);
  const of = (): string => JSON.stringify([schema, initial]);
  const [entered, setEntered] = useKept<Entered>(
    name,
    () => ({ of: of(), draft: toDraft(field, initial), before: initial }),
    (kept) => kept.of === of(),
  );
  const { draft, before, json } = entered;
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const element = useRef<HTMLDivElement>(null);
  useFocusOnFirst(element, problems);
  const readNow = (): Read => (json === undefined ? readDraft(field, draft, { before }) : readJson(json));
  return {
    field,
    draft,
    setDraft: (next) => setEntered({ ...entered, draft: next }),
    json,
    setJson: (next) => setEntered({ ...entered, json: next }),
    switchMode() {
      const now = readNow();
      if (json === undefined) setEntered({ ...entered, json: JSON.stringify(now.value ?? null, null, 2) });
      else if (now.problems.length > 0) return setProblems(now.problems);
      else setEntered({ of: entered.of, draft: toDraft(field, now.value), before: now.value });
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
