import { SchemaError } from '../errors.ts';
import type { JsonSchemaNode, JsonSchemaObject } from './json-schema-object.ts';
import { showJson } from './show-json.ts';
import type { Steps } from './steps.ts';
import { forEachSubschema, isSchemaNode, isSchemaObject } from './subschemas.ts';

/** The schema that a node's `$ref` points to, or undefined if it points nowhere. */
export type ResolveRef = (node: JsonSchemaObject) => JsonSchemaNode | undefined;

/** A part of the document with its own URI: the root, or a subschema with `$id`. */
interface Resource {
  readonly uri: string;
  readonly root: JsonSchemaNode;
}

const ROOT_URI = 'schema:/root';

/** Limits for reading addresses. */
export interface RefLimits {
  readonly steps: Steps;
  /** The maximum length of a URI, in characters. */
  readonly longest: number;
}

/** Resolves references inside one document; nothing is ever fetched. Throws a SchemaError if an address is too long. */
export function createRefResolver(root: JsonSchemaNode, limits: RefLimits): ResolveRef {
  const document: Resource = { uri: ROOT_URI, root };
  let made: Index | undefined;
  // The same references are resolved again and again.
  const found = new Map<JsonSchemaObject, JsonSchemaNode | undefined>();
  return (node) => {
    if (typeof node.$ref !== 'string') return undefined;
    if (!found.has(node)) found.set(node, find(node, node.$ref));
    return found.get(node);
  };

  function find(node: JsonSchemaObject, ref: string): JsonSchemaNode | undefined {
    // Most schemas have no references, and need no index.
    made ??= indexOf(document, limits);
    const { targets, homes } = made;
    const [address = '', fragment = ''] = ref.split('#', 2);
    const { uri } = homes.get(node) ?? document;
    const base = address === '' ? uri : absolute(address, uri, limits);
    limits.steps.takeText(base.length + ref.length);
    if (fragment !== '' && !fragment.startsWith('/')) return targets.get(`${base}#${fragment}`);
    return followPointer(targets.get(base), fragment);
  }
}

interface Index {
  /** The schema that each address leads to. */
  readonly targets: ReadonlyMap<string, JsonSchemaNode>;
  /** The resource that a schema's addresses are relative to. */
  readonly homes: ReadonlyMap<JsonSchemaNode, Resource>;
}

function indexOf(document: Resource, limits: RefLimits): Index {
  const targets = new Map<string, JsonSchemaNode>([[document.uri, document.root]]);
  const homes = new Map<JsonSchemaNode, Resource>();
  index(document.root, document);
  return { targets, homes };

  function index(node: JsonSchemaNode, outer: Resource): void {
    if (!isSchemaObject(node) || homes.has(node)) return;
    const resource = resourceOf(node, outer, limits);
    homes.set(node, resource);
    targets.set(resource.uri, resource.root);
    for (const anchor of anchorsOf(node)) {
      limits.steps.takeText(resource.uri.length + anchor.length);
      targets.set(resource.uri + anchor, node);
    }
    forEachSubschema(node, (sub) => index(sub, resource));
  }
}

/** Anchors with the leading `#`. Up to draft 7, they are written as an `$id`. */
function anchorsOf({ $anchor, $id }: JsonSchemaObject): readonly string[] {
  const anchors = typeof $anchor === 'string' ? [`#${$anchor}`] : [];
  return typeof $id === 'string' && $id.startsWith('#') ? [...anchors, $id] : anchors;
}

function resourceOf(node: JsonSchemaObject, outer: Resource, limits: RefLimits): Resource {
  if (typeof node.$id !== 'string' || node.$id.startsWith('#')) return outer;
  return { uri: absolute(node.$id, outer.uri, limits).replace(/#$/, ''), root: node };
}

function absolute(uri: string, base: string, { steps, longest }: RefLimits): string {
  if (uri.length + base.length > 2 * longest) throw tooLong(uri, longest);
  steps.takeText(4 * (uri.length + base.length));
  const resolved = URL.canParse(uri, base) ? new URL(uri, base).href : uri;
  if (resolved.length > longest) throw tooLong(uri, longest);
  return resolved;
}

function tooLong(uri: string, longest: number): SchemaError {
  return new SchemaError(
    `The JSON Schema has an address of more than ${longest.toLocaleString('en')} characters: ${showJson(uri)}, resolved against the "$id" around it. Use shorter ones, or "$ref" with "#/$defs/…".`,
  );
}

function followPointer(from: JsonSchemaNode | undefined, pointer: string): JsonSchemaNode | undefined {
  let place: unknown = from;
  for (const segment of pointer.split('/').slice(1)) {
    const key = decodeSegment(segment);
    if (key === undefined || typeof place !== 'object' || place === null || !Object.hasOwn(place, key))
      return undefined;
    place = (place as Record<string, unknown>)[key];
  }
  return isSchemaNode(place) ? place : undefined;
}

/** One segment of a JSON pointer in a URI fragment; undefined if its percent encoding is invalid. */
function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
