import type { JsonSchemaObject } from './json-schema-object.ts';
import type { SchemaDocument } from './schema-document.ts';
import { mapOf } from './subschemas.ts';

/** The uses of a definition: closed by itself, open because another schema closes the level, or unchanged. */
export type DefinitionMode = 'closed' | 'open' | 'asIs';

export interface ClosedDefinitions {
  /** A reference to this use of the definition, which is made on first request. */
  refTo(target: JsonSchemaObject, mode: DefinitionMode, shared?: ReadonlySet<string>): string;
  /** The schema with every requested definition. */
  addTo(schema: JsonSchemaObject): JsonSchemaObject;
}

type Makers = Readonly<
  Record<DefinitionMode, (target: JsonSchemaObject, shared?: ReadonlySet<string>) => JsonSchemaObject>
>;

const NO_KEYS: ReadonlySet<string> = new Set();

/**
 * Definitions made on demand. They may refer to themselves, because a name is assigned before the definition is made.
 */
export function createClosedDefinitions(
  root: JsonSchemaObject,
  { steps }: SchemaDocument,
  make: Makers,
): ClosedDefinitions {
  const keyword = root.$defs === undefined && root.definitions !== undefined ? 'definitions' : '$defs';
  const originals = new Map([...mapOf(root.$defs), ...mapOf(root.definitions)].map(([name, target]) => [target, name]));
  const taken = new Set(originals.values());
  const names = new Map<JsonSchemaObject, Map<string, string>>();
  const made = new Map<string, JsonSchemaObject>();
  // A list instead of recursion: references may lead from each definition to the next one.
  const waiting: (() => void)[] = [];

  function refTo(target: JsonSchemaObject, mode: DefinitionMode, shared: ReadonlySet<string> = NO_KEYS): string {
    if (target === root && mode === 'closed') return '#';
    const uses = names.get(target) ?? new Map<string, string>();
    names.set(target, uses);
    steps.take(1 + shared.size);
    const use = JSON.stringify([mode, [...shared].sort()]);
    const name = uses.get(use) ?? freeName(target, mode);
    if (!uses.has(use)) {
      uses.set(use, name);
      made.set(name, {});
      waiting.push(() => made.set(name, make[mode](target, shared)));
    }
    return `#/${keyword}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
  }

  function freeName(target: JsonSchemaObject, mode: DefinitionMode): string {
    const own = originals.get(target) ?? (target === root ? 'root' : 'part');
    const base = mode === 'closed' ? own : `${own}.${mode}`;
    const isTaken = (name: string): boolean => made.has(name) || (name !== own && taken.has(name));
    for (let index = 1; ; index++) {
      steps.take();
      const name = index === 1 ? base : `${base}.${index}`;
      if (!isTaken(name)) return name;
    }
  }

  function addTo(schema: JsonSchemaObject): JsonSchemaObject {
    for (let makeNext = waiting.shift(); makeNext !== undefined; makeNext = waiting.shift()) makeNext();
    return made.size === 0 ? schema : { ...schema, [keyword]: Object.fromEntries(made) };
  }

  return {
    refTo,
    addTo,
  };
}
