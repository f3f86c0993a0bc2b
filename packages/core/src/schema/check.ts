import type { Evaluated } from './evaluated.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { SchemaDocument } from './schema-document.ts';
import { Steps } from './steps.ts';

/** One validation of one value: its steps, and what has been decided already. */
export interface Run {
  readonly steps: Steps;
  /**
   * Whether a value fits a referenced schema, by schema and value: references lead to the same schema again and again.
   */
  readonly decided: Map<Check, Map<unknown, boolean>>;
  /** The keys of each object that were listed already. */
  readonly keys: WeakMap<object, readonly string[]>;
}

export function createRun(limit?: number): Run {
  return { steps: new Steps('checking it against the schema', limit), decided: new Map(), keys: new WeakMap() };
}

/** The keys of an object in the value. They are listed once, and each takes a step: many schemas need the same ones. */
export function keysIn(object: object, { keys, steps }: Run): readonly string[] {
  const known = keys.get(object);
  if (known !== undefined) return known;
  const listed = Object.keys(object);
  steps.take(listed.length);
  keys.set(object, listed);
  return listed;
}

/**
 * A place in the value. Places are compared by identity: two schemas that apply to the same value have the same place.
 */
export interface Place {
  readonly outer: Place | undefined;
  readonly key: PropertyKey;
}

/** A keyword that a value does not fit. */
export interface Finding {
  readonly keyword: string;
  /** The schema that has the keyword, or `false`. */
  readonly schema: JsonSchemaNode;
  readonly value: unknown;
  readonly place: Place | undefined;
  /** The keyword that holds the schema. */
  readonly holder: string | undefined;
  /** True if the value is the name of a property. */
  readonly isName: boolean;
  /** For a union: the findings of each alternative that does not fit. */
  readonly branches?: readonly (readonly Finding[])[];
}

/** Where findings are collected, and what they have in common at this point. */
interface Report extends Pick<Finding, 'place' | 'holder' | 'isName'> {
  readonly findings: Finding[];
}

export interface Context {
  readonly run: Run;
  /** Undefined if only the decision is needed. */
  readonly report?: Report | undefined;
  /** What schemas have evaluated so far. Undefined if nothing depends on it. */
  readonly evaluated?: Evaluated | undefined;
}

/** Whether a value fits. With a report, every problem is reported; without one, the first ends the check. */
export type Check = (value: unknown, context: Context) => boolean;

/** What is needed to make the check of a keyword. */
export interface CheckMaker {
  readonly document: SchemaDocument;
  /** 'ignored' leaves out keywords that forbid further keys. */
  readonly extraKeys: 'refused' | 'ignored';
  checkOf(node: JsonSchemaNode): Check;
}

/** Makes the check of a keyword, for a schema that has it. Undefined if there is nothing to check. */
export type MakeCheck = (node: JsonSchemaObject, maker: CheckMaker) => Check | undefined;

/** Reports a finding, if findings are wanted. Always returns false, the result of the check. */
export function fail(
  { run, report }: Context,
  finding: Pick<Finding, 'keyword' | 'schema' | 'value' | 'branches'>,
): false {
  if (report === undefined) return false;
  run.steps.take(10);
  const { findings, ...common } = report;
  findings.push({ ...common, ...finding });
  return false;
}

/** The context if only the decision is needed. */
export function deciding(context: Context): Context {
  return context.report === undefined && context.evaluated === undefined ? context : { run: context.run };
}

/** The context for another schema of the same value. */
export function inPlace(context: Context, holder: string): Context {
  const { run, report, evaluated } = context;
  if (report === undefined) return context;
  run.steps.take(4);
  return { run, evaluated, report: { ...report, holder } };
}

/** The context for a value inside this one. */
export function inside(context: Context, holder: string, key: PropertyKey): Context {
  const { run, report } = context;
  if (report === undefined) return deciding(context);
  run.steps.take(4);
  return { run, report: { ...report, holder, place: { outer: report.place, key } } };
}

/** Continues after a failure only if everything is reported. */
export function all<T>(parts: Iterable<T>, context: Context, check: (part: T) => boolean): boolean {
  let fits = true;
  for (const part of parts) {
    context.run.steps.take();
    if (check(part)) continue;
    if (context.report === undefined) return false;
    fits = false;
  }
  return fits;
}
