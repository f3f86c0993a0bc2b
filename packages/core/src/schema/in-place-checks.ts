import {
  all,
  type Check,
  type CheckMaker,
  type Context,
  deciding,
  type Finding,
  fail,
  inPlace,
  type MakeCheck,
} from './check.ts';
import { Evaluated } from './evaluated.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { isSchemaNode, listOf, mapOf } from './subschemas.ts';

/** Keywords with schemas that apply to the same value. */
export const IN_PLACE_CHECKS: readonly (readonly [keyword: string, make: MakeCheck])[] = [
  ['not', makeNot],
  ['anyOf', (node, maker) => makeUnion('anyOf', node, maker)],
  ['allOf', makeAllOf],
  ['oneOf', (node, maker) => makeUnion('oneOf', node, maker)],
  ['if', makeIf],
];

/** Looked up when it first runs, because schemas are recursive. */
export function makeRef(node: JsonSchemaObject, { document, checkOf }: CheckMaker): Check | undefined {
  const target = document.resolve(node);
  if (target === undefined) return undefined;
  let check: Check | undefined;
  return (value, context) => {
    check ??= checkOf(target);
    // A value that fits has nothing to report. If evaluated keys are tracked, everything has to be visited again.
    if (context.evaluated === undefined && decide(check, value, deciding(context))) return true;
    return context.report === undefined && context.evaluated === undefined
      ? false
      : check(value, inPlace(context, '$ref'));
  };
}

/**
 * The longest text whose decision is remembered. Finding a longer one may mean comparing it with each remembered text.
 */
const LONGEST_REMEMBERED = 1_000;

/** Remembers the decision: if schemas refer to others twice, the number of paths doubles with each level. */
function decide(check: Check, value: unknown, context: Context): boolean {
  const { decided, steps } = context.run;
  if (typeof value === 'string' && value.length > LONGEST_REMEMBERED) return check(value, context);
  if (typeof value === 'string') steps.takeText(value.length);
  const known = decided.get(check) ?? new Map<unknown, boolean>();
  decided.set(check, known);
  const before = known.get(value);
  if (before !== undefined) return before;
  const fits = check(value, context);
  known.set(value, fits);
  return fits;
}

function makeNot(node: JsonSchemaObject, { checkOf }: CheckMaker): Check | undefined {
  if (!isSchemaNode(node.not)) return undefined;
  const check = checkOf(node.not);
  return (value, context) =>
    !check(value, { run: context.run }) || fail(context, { keyword: 'not', schema: node, value });
}

function makeAllOf(node: JsonSchemaObject, { checkOf }: CheckMaker): Check {
  const checks = listOf(node.allOf).map(checkOf);
  return (value, context) => all(checks, context, (check) => check(value, inPlace(context, 'allOf')));
}

function makeUnion(keyword: 'anyOf' | 'oneOf', node: JsonSchemaObject, { checkOf }: CheckMaker): Check {
  const branches = listOf(node[keyword]).map(checkOf);
  return (value, context) => {
    const most = keyword === 'oneOf' ? 1 : branches.length;
    const fitting = countFitting(branches, value, context, most);
    if (fitting >= 1 && fitting <= most) return true;
    return fail(context, { keyword, schema: node, value, branches: branchFindings(branches, value, context) });
  };
}

/** Stops as soon as the count is decided: at the first match of `anyOf`, and at the second match of `oneOf`. */
function countFitting(branches: readonly Check[], value: unknown, context: Context, most: number): number {
  const { run, evaluated, report } = context;
  let count = 0;
  for (const branch of branches) {
    run.steps.take();
    const own = evaluated === undefined ? undefined : new Evaluated();
    if (!branch(value, own === undefined ? deciding(context) : { run, evaluated: own })) continue;
    count += 1;
    if (own !== undefined) evaluated?.addAll(own, run.steps);
    const isDecided = most === 1 ? count > 1 && report === undefined : evaluated === undefined;
    if (isDecided) break;
  }
  return count;
}

function branchFindings(branches: readonly Check[], value: unknown, context: Context): readonly (readonly Finding[])[] {
  const { run, report } = context;
  if (report === undefined) return [];
  const groups = branches.map((branch) => {
    const findings: Finding[] = [];
    branch(value, { run, report: { ...report, findings } });
    return findings;
  });
  return groups.filter((findings) => findings.length > 0);
}

function makeIf(node: JsonSchemaObject, { checkOf }: CheckMaker): Check | undefined {
  const optional = (sub: unknown): Check | undefined => (isSchemaNode(sub) ? checkOf(sub) : undefined);
  const [condition, whenTrue, whenFalse] = [node.if, node.then, node.else].map(optional);
  if (condition === undefined) return undefined;
  return (value, context) => {
    const { run, evaluated } = context;
    const own = evaluated === undefined ? undefined : new Evaluated();
    const holds = condition(value, { run, evaluated: own });
    if (holds && own !== undefined) evaluated?.addAll(own, run.steps);
    const [outcome, holder] = holds ? [whenTrue, 'then'] : [whenFalse, 'else'];
    return outcome === undefined || outcome(value, inPlace(context, holder));
  };
}

/** `dependentSchemas`, and the schemas among the `dependencies` of older drafts. */
export function makeDependentSchemas(keyword: string): MakeCheck {
  return (node, { checkOf }) => {
    const entries = mapOf(node[keyword]).map(
      ([key, sub]: readonly [string, JsonSchemaNode]) => [key, checkOf(sub)] as const,
    );
    if (entries.length === 0) return undefined;
    return (value, context) =>
      all(
        entries,
        context,
        ([key, check]) => !Object.hasOwn(value as object, key) || check(value, inPlace(context, 'dependentSchemas')),
      );
  };
}
