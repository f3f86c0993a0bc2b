import { ARRAY_ASSERTIONS, UNIQUE_ITEMS } from './assertions.ts';
import { all, type Check, type CheckMaker, fail, inside, type MakeCheck } from './check.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import { isSchemaNode, listOf } from './subschemas.ts';

/**
 * Keywords of arrays. The last but one depends on which items the others have evaluated, and the last is the most work.
 */
export const ARRAY_CHECKS: readonly (readonly [keyword: string, make: MakeCheck])[] = [
  ...ARRAY_ASSERTIONS,
  ['prefixItems', makePrefixItems],
  ['items', makeItems],
  ['contains', makeContains],
  ['unevaluatedItems', makeUnevaluatedItems],
  ...UNIQUE_ITEMS,
];

function makePrefixItems({ prefixItems, items }: JsonSchemaObject, maker: CheckMaker): Check | undefined {
  return Array.isArray(items) ? undefined : makeFirst('prefixItems', prefixItems, maker);
}

/** Older drafts have a list of schemas here, and `additionalItems` for the items after them. */
function makeItems(node: JsonSchemaObject, maker: CheckMaker): Check | undefined {
  const { items, additionalItems, prefixItems } = node;
  if (!Array.isArray(items)) return makeRest('items', items, listOf(prefixItems).length, maker);
  const [first, rest] = [
    makeFirst('items', items, maker),
    makeRest('additionalItems', additionalItems, items.length, maker),
  ];
  return (value, context) => all([first, rest], context, (check) => check === undefined || check(value, context));
}

function makeFirst(keyword: string, list: unknown, { checkOf }: CheckMaker): Check {
  const checks = listOf(list).map(checkOf);
  return (value, context) => {
    const items = value as readonly unknown[];
    context.evaluated?.addFirstItems(Math.min(checks.length, items.length));
    return all(
      indexes(0, Math.min(checks.length, items.length)),
      context,
      (index) => checks[index]?.(items[index], inside(context, keyword, index)) !== false,
    );
  };
}

function makeRest(keyword: string, sub: unknown, from: number, { checkOf }: CheckMaker): Check | undefined {
  if (!isSchemaNode(sub)) return undefined;
  const check = checkOf(sub);
  return (value, context) => {
    const items = value as readonly unknown[];
    context.evaluated?.addFirstItems(items.length);
    if (sub === true) return true;
    return all(indexes(from, items.length), context, (index) => check(items[index], inside(context, keyword, index)));
  };
}

function* indexes(from: number, to: number): Iterable<number> {
  for (let index = from; index < to; index++) yield index;
}

function makeContains(node: JsonSchemaObject, { document, checkOf }: CheckMaker): Check | undefined {
  const { contains, minContains, maxContains } = node;
  if (!isSchemaNode(contains)) return undefined;
  const check = checkOf(contains);
  const [least, most] = [Number(minContains ?? 1), Number(maxContains ?? Number.POSITIVE_INFINITY)];
  const tooFew = minContains === undefined ? 'contains' : 'minContains';
  return (value, context) => {
    const { run, evaluated } = context;
    let count = 0;
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      run.steps.take();
      if (!check(item, { run })) continue;
      count += 1;
      if (document.draft === '2020-12') evaluated?.addItem(index);
    }
    if (count < least) return fail(context, { keyword: tooFew, schema: node, value });
    return count <= most || fail(context, { keyword: 'maxContains', schema: node, value });
  };
}

/** For a context that tracks what was evaluated. */
function makeUnevaluatedItems({ unevaluatedItems: sub }: JsonSchemaObject, { checkOf }: CheckMaker): Check | undefined {
  if (!isSchemaNode(sub)) return undefined;
  const check = checkOf(sub);
  return (value, context) => {
    const items = value as readonly unknown[];
    const fits = all(items.keys(), context, (index) => {
      if (context.evaluated?.hasItem(index) === true) return true;
      return check(items[index], inside(context, 'unevaluatedItems', index));
    });
    context.evaluated?.addFirstItems(items.length);
    return fits;
  };
}
