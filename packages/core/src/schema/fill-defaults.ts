import { cloneJson } from './clone-json.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import type { SchemaDocument } from './schema-document.ts';
import type { Steps } from './steps.ts';
import { isSchemaObject, listOf, mapOf } from './subschemas.ts';

interface Filling {
  /** The schemas whose default is being filled in: a default that contains itself is filled in once. */
  readonly inserting: ReadonlySet<JsonSchemaNode>;
  readonly steps: Steps;
  /** What was filled in already: references lead to the same schema again and again. */
  readonly filled: Map<Fill, WeakSet<object>>;
}
type Fill = (value: unknown, filling: Filling) => void;

/** Writes defaults into the given value, which must be a copy, and returns it. */
export function compileDefaults(document: SchemaDocument): (value: unknown, steps: Steps) => unknown {
  const { root, resolve, isOnlyRefRead } = document;
  const fills = new Map<JsonSchemaObject, Fill>();
  // Many properties refer to the same schema.
  const defaults = new Map<JsonSchemaObject, unknown>();

  function fillOf(node: JsonSchemaNode): Fill {
    if (!isSchemaObject(node)) return () => undefined;
    // Registered before it is compiled, and compiled when it first runs, because schemas are recursive.
    let made: readonly Fill[] | undefined;
    const fill: Fill = (value, filling) => {
      if (typeof value !== 'object' || value === null || isFilled(fill, value, filling)) return;
      made ??= compile(node);
      filling.steps.take(1 + made.length);
      for (const part of made) part(value, filling);
    };
    const known = fills.get(node) ?? fill;
    fills.set(node, known);
    return known;
  }

  function compile(node: JsonSchemaObject): readonly Fill[] {
    const target = resolve(node);
    const ref = target === undefined ? [] : [fillOf(target)];
    if (ref.length > 0 && isOnlyRefRead) return ref;
    const properties = mapOf(node.properties).map(([key, sub]) => fillProperty(key, sub));
    return [...ref, ...properties, ...fillMembers(node), ...fillItems(node), ...listOf(node.allOf).map(fillOf)];
  }

  function fillProperty(key: string, sub: JsonSchemaNode): Fill {
    const inside = fillOf(sub);
    return (value, filling) => {
      if (!isSchemaObject(value)) return;
      if (Object.hasOwn(value, key)) return inside(value[key], filling);
      const byDefault = defaultOf(sub, filling.steps);
      if (byDefault === undefined || filling.inserting.has(sub)) return;
      const { inserting, steps } = filling;
      steps.take(inserting.size);
      const inserted = cloneJson(byDefault, steps);
      inside(inserted, { ...filling, inserting: new Set(inserting).add(sub) });
      Object.defineProperty(value, key, { value: inserted, writable: true, enumerable: true, configurable: true });
    };
  }

  /** A reference's own default, or that of the schema it leads to. */
  function defaultOf(first: JsonSchemaNode, steps: Steps): unknown {
    const passed = new Set<JsonSchemaObject>();
    let node: JsonSchemaNode | undefined = first;
    while (isSchemaObject(node) && !passed.has(node) && !defaults.has(node) && !Object.hasOwn(node, 'default')) {
      steps.take();
      passed.add(node);
      node = resolve(node);
    }
    const found = isSchemaObject(node) ? knownDefault(node) : undefined;
    for (const one of passed) defaults.set(one, found);
    return found;
  }

  /** A default may be null. */
  function knownDefault(node: JsonSchemaObject): unknown {
    return defaults.has(node) ? defaults.get(node) : node.default;
  }

  /** Fills the values in a record: those whose keys are not listed by name. */
  function fillMembers(node: JsonSchemaObject): readonly Fill[] {
    if (document.hasHiddenNames(node)) return [];
    const byPattern = mapOf(node.patternProperties).flatMap(([source, sub]) => {
      const pattern = document.pattern(source);
      return pattern === undefined ? [] : [{ pattern, inside: fillOf(sub) }];
    });
    const others = isSchemaObject(node.additionalProperties) ? fillOf(node.additionalProperties) : undefined;
    if (byPattern.length === 0 && others === undefined) return [];
    const declared = new Set(mapOf(node.properties).map(([key]) => key));
    const fill: Fill = (value, filling) => {
      if (!isSchemaObject(value)) return;
      const entries = Object.entries(value);
      filling.steps.take(entries.length);
      for (const [key, member] of entries) {
        const matching = byPattern.filter(({ pattern }) => pattern.test(key));
        for (const { inside } of matching) inside(member, filling);
        if (matching.length === 0 && !declared.has(key)) others?.(member, filling);
      }
    };
    return [fill];
  }

  function fillItems(node: JsonSchemaObject): readonly Fill[] {
    const first = listOf(Array.isArray(node.items) ? node.items : node.prefixItems).map(fillOf);
    const others = Array.isArray(node.items) ? node.additionalItems : node.items;
    const rest = isSchemaObject(others) ? fillOf(others) : undefined;
    if (first.length === 0 && rest === undefined) return [];
    const fill: Fill = (value, filling) => {
      if (!Array.isArray(value)) return;
      filling.steps.take(value.length);
      for (const [index, item] of value.entries()) (first[index] ?? rest)?.(item, filling);
    };
    return [fill];
  }

  const fill = fillOf(root);
  return (value, steps) => {
    fill(value, { steps, inserting: new Set(), filled: new Map() });
    return value;
  };
}

/** False the first time, true afterwards. */
function isFilled(fill: Fill, value: object, { filled }: Filling): boolean {
  const values = filled.get(fill) ?? new WeakSet<object>();
  filled.set(fill, values);
  if (values.has(value)) return true;
  values.add(value);
  return false;
}
