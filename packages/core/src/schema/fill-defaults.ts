import { cloneJson } from './clone-json.ts';
import { draftOf, refHidesSiblings } from './draft.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { createRefResolver } from './refs.ts';
import { isSchemaObject, listOf, mapOf } from './subschemas.ts';

/** The schemas whose default is just being filled in: a default that holds itself is filled in once. */
type Inserting = ReadonlySet<JsonSchemaNode>;
type Fill = (value: unknown, inserting: Inserting) => void;

/** Writes defaults into the given value, which must be a copy, and returns it. */
export function compileDefaults(root: JsonSchemaNode): (value: unknown) => unknown {
  const resolve = createRefResolver(root);
  const onlyRef = refHidesSiblings(draftOf(root));
  const fills = new Map<JsonSchemaObject, Fill>();

  function fillOf(node: JsonSchemaNode): Fill {
    if (!isSchemaObject(node)) return () => undefined;
    // Registered before it is compiled, and compiled when it first runs, because schemas are recursive.
    let made: readonly Fill[] | undefined;
    const fill: Fill = (value, inserting) => {
      made ??= compile(node);
      for (const part of made) part(value, inserting);
    };
    const known = fills.get(node) ?? fill;
    fills.set(node, known);
    return known;
  }

  function compile(node: JsonSchemaObject): readonly Fill[] {
    const target = resolve(node);
    const ref = target === undefined ? [] : [fillOf(target)];
    if (ref.length > 0 && onlyRef) return ref;
    const properties = mapOf(node.properties).map(([key, sub]) => fillProperty(key, sub));
    return [...ref, ...properties, ...fillItems(node), ...listOf(node.allOf).map(fillOf)];
  }

  function fillProperty(key: string, sub: JsonSchemaNode): Fill {
    const inside = fillOf(sub);
    const byDefault = defaultOf(sub);
    return (value, inserting) => {
      if (!isSchemaObject(value)) return;
      if (Object.hasOwn(value, key)) return inside(value[key], inserting);
      if (byDefault === undefined || inserting.has(sub)) return;
      const inserted = cloneJson(byDefault);
      inside(inserted, new Set(inserting).add(sub));
      Object.defineProperty(value, key, { value: inserted, writable: true, enumerable: true, configurable: true });
    };
  }

  /** A reference's own default, or that of the schema it leads to. */
  function defaultOf(node: JsonSchemaNode | undefined, seen: ReadonlySet<unknown> = new Set()): unknown {
    if (!isSchemaObject(node) || seen.has(node)) return undefined;
    if (Object.hasOwn(node, 'default')) return node.default;
    return defaultOf(resolve(node), new Set(seen).add(node));
  }

  function fillItems(node: JsonSchemaObject): readonly Fill[] {
    const first = listOf(Array.isArray(node.items) ? node.items : node.prefixItems).map(fillOf);
    const others = Array.isArray(node.items) ? node.additionalItems : node.items;
    const rest = isSchemaObject(others) ? fillOf(others) : undefined;
    if (first.length === 0 && rest === undefined) return [];
    const fill: Fill = (value, inserting) => {
      if (!Array.isArray(value)) return;
      for (const [index, item] of value.entries()) (first[index] ?? rest)?.(item, inserting);
    };
    return [fill];
  }

  const fill = fillOf(root);
  const none: Inserting = new Set();
  return (value) => {
    fill(value, none);
    return value;
  };
}
