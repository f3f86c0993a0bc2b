import { OBJECT_ASSERTIONS } from './assertions.ts';
import { all, type Check, type CheckMaker, inside, keysIn, type MakeCheck } from './check.ts';
import { makeDependentSchemas } from './in-place-checks.ts';
import type { JsonSchemaObject } from './json-schema-object.ts';
import { isSchemaNode, mapOf } from './subschemas.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Keywords of objects. The last depends on which keys the others have evaluated. */
export const OBJECT_CHECKS: readonly (readonly [keyword: string, make: MakeCheck])[] = [
  ...OBJECT_ASSERTIONS,
  ['propertyNames', makePropertyNames],
  ['dependentSchemas', makeDependentSchemas('dependentSchemas')],
  ['dependencies', makeDependentSchemas('dependencies')],
  ['properties', makeProperties],
  ['patternProperties', makePatternProperties],
  ['additionalProperties', makeAdditionalProperties],
  ['unevaluatedProperties', makeUnevaluatedProperties],
];

function makePropertyNames({ propertyNames }: JsonSchemaObject, { checkOf }: CheckMaker): Check | undefined {
  if (!isSchemaNode(propertyNames)) return undefined;
  const check = checkOf(propertyNames);
  return (value, context) =>
    all(keysIn(value as object, context.run), context, (key) => {
      const { run, report } = inside(context, 'propertyNames', key);
      return check(key, { run, report: report && { ...report, isName: true } });
    });
}

function makeProperties({ properties }: JsonSchemaObject, { checkOf }: CheckMaker): Check {
  const entries = mapOf(properties).map(([key, sub]) => [key, checkOf(sub)] as const);
  return (value, context) =>
    all(entries, context, ([key, check]) => {
      if (!Object.hasOwn(value as object, key)) return true;
      context.evaluated?.addKey(key);
      return check((value as Fields)[key], inside(context, 'properties', key));
    });
}

function makePatternProperties(node: JsonSchemaObject, { document, checkOf }: CheckMaker): Check {
  if (document.hasHiddenNames(node)) return openLevel;
  const entries = mapOf(node.patternProperties).map(
    ([source, sub]) => [document.pattern(source), checkOf(sub)] as const,
  );
  return (value, context) =>
    all(entries, context, ([pattern, check]) =>
      all(keysIn(value as object, context.run), context, (key) => {
        if (pattern?.test(key) !== true) return true;
        context.evaluated?.addKey(key);
        return check((value as Fields)[key], inside(context, 'patternProperties', key));
      }),
    );
}

/** It is not known which names the patterns allow, so no name is reported as unknown. */
const openLevel: Check = (_value, { evaluated }) => {
  evaluated?.addEveryKey();
  return true;
};

function makeAdditionalProperties(node: JsonSchemaObject, maker: CheckMaker): Check | undefined {
  const { document, checkOf, extraKeys } = maker;
  const { additionalProperties: sub, properties, patternProperties } = node;
  if (!isSchemaNode(sub) || document.hasHiddenNames(node)) return undefined;
  if (sub === false && extraKeys === 'ignored') return undefined;
  const check = checkOf(sub);
  const named = new Set(mapOf(properties).map(([key]) => key));
  const patterns = mapOf(patternProperties).flatMap(([source]) => document.pattern(source) ?? []);
  return (value, context) => {
    context.evaluated?.addEveryKey();
    if (sub === true) return true;
    return all(keysIn(value as object, context.run), context, (key) => {
      if (named.has(key) || patterns.some((pattern) => pattern.test(key))) return true;
      return check((value as Fields)[key], inside(context, 'additionalProperties', key));
    });
  };
}

/** For a context that tracks what was evaluated. */
function makeUnevaluatedProperties(node: JsonSchemaObject, { checkOf, extraKeys }: CheckMaker): Check | undefined {
  const { unevaluatedProperties: sub } = node;
  if (!isSchemaNode(sub) || (sub === false && extraKeys === 'ignored')) return undefined;
  const check = checkOf(sub);
  return (value, context) => {
    const fits = all(keysIn(value as object, context.run), context, (key) => {
      if (context.evaluated?.hasKey(key) === true) return true;
      return check((value as Fields)[key], inside(context, 'unevaluatedProperties', key));
    });
    context.evaluated?.addEveryKey();
    return fits;
  };
}
