import { ARRAY_CHECKS } from './array-checks.ts';
import { ANY_ASSERTIONS, NUMBER_ASSERTIONS, TEXT_ASSERTIONS } from './assertions.ts';
import { type Check, type CheckMaker, type Context, type Finding, fail, type MakeCheck, type Run } from './check.ts';
import { Evaluated } from './evaluated.ts';
import { IN_PLACE_CHECKS, makeRef } from './in-place-checks.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { OBJECT_CHECKS } from './object-checks.ts';
import type { SchemaDocument } from './schema-document.ts';
import { isSchemaObject } from './subschemas.ts';

/** Interprets one document. No code is generated, so it also runs where `new Function` is forbidden. */
export interface Interpreter {
  fits(node: JsonSchemaNode, value: unknown, run: Run): boolean;
  /** Everything in the value that does not fit the whole document. */
  findings(value: unknown, run: Run): readonly Finding[];
}

type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';
type Checks = readonly (readonly [keyword: string, make: MakeCheck])[];

/** The order in which problems are listed. */
const ANY_CHECKS: Checks = [...ANY_ASSERTIONS, ...IN_PLACE_CHECKS];
const CHECKS: Readonly<Record<Kind, Checks>> = {
  null: [],
  boolean: [],
  number: NUMBER_ASSERTIONS,
  string: TEXT_ASSERTIONS,
  array: ARRAY_CHECKS,
  object: OBJECT_CHECKS,
};

/** @param options.extraKeys 'ignored' leaves out what forbids further keys. */
export function createInterpreter(
  document: SchemaDocument,
  options: { extraKeys: 'refused' | 'ignored' },
): Interpreter {
  const checks = new Map<JsonSchemaObject, Check>();
  const maker: CheckMaker = { document, extraKeys: options.extraKeys, checkOf };

  function checkOf(node: JsonSchemaNode): Check {
    if (!isSchemaObject(node)) return node ? acceptAll : refuseAll;
    const check = checks.get(node) ?? makeCheck(node, maker);
    checks.set(node, check);
    return check;
  }

  return {
    fits: (node, value, run) => checkOf(node)(value, { run }),
    findings: (value, run) => {
      const findings: Finding[] = [];
      const report = { findings, place: undefined, holder: undefined, isName: false };
      checkOf(document.root)(value, { run, report });
      return findings;
    },
  };
}

const acceptAll: Check = (value) => kindOf(value) !== undefined;
const refuseAll: Check = (value, context) => fail(context, { keyword: 'false', schema: false, value });

/**
 * Made with the first value of each kind, and counted in the steps of its check: most of a large schema is never used.
 */
function makeCheck(node: JsonSchemaObject, maker: CheckMaker): Check {
  const byKind: Partial<Record<Kind, readonly Check[]>> = {};
  const isOnlyRef = maker.document.isOnlyRefRead && node.$ref !== undefined;
  const make = (kind: Kind, { steps }: Run): readonly Check[] => {
    steps.take(MAKING_STEPS);
    const ref = makeRef(node, maker);
    const others = isOnlyRef ? [] : makeAll(node, [...ANY_CHECKS, ...CHECKS[kind]], maker);
    return ref === undefined ? others : [ref, ...others];
  };
  const check: Check = (value, context) => {
    const kind = kindOf(value);
    byKind[kind] ??= make(kind, context.run);
    return runChecks(byKind[kind], value, context);
  };
  const tracks = node.unevaluatedProperties !== undefined || node.unevaluatedItems !== undefined;
  return tracks && !isOnlyRef ? tracking(check) : check;
}

const MAKING_STEPS = 20;

function runChecks(checks: readonly Check[], value: unknown, context: Context): boolean {
  context.run.steps.take(1 + checks.length);
  let fits = true;
  for (const check of checks) {
    if (check(value, context)) continue;
    if (context.report === undefined) return false;
    fits = false;
  }
  return fits;
}

function makeAll(node: JsonSchemaObject, list: Checks, maker: CheckMaker): Check[] {
  return list.flatMap(([keyword, make]) => (Object.hasOwn(node, keyword) ? (make(node, maker) ?? []) : []));
}

/**
 * A schema that depends on evaluated keys sees what it and its parts evaluated, and not what the schemas around it did.
 */
function tracking(check: Check): Check {
  return (value, context) => {
    const own = new Evaluated();
    const fits = check(value, { ...context, evaluated: own });
    if (fits) context.evaluated?.addAll(own, context.run.steps);
    return fits;
  };
}

function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'object' || type === 'string' || type === 'number' || type === 'boolean') return type;
  throw new TypeError(`A ${type} is not a JSON value.`);
}
