import type { JsonSchemaNode } from './json-schema-object.ts';
import { isSchemaObject } from './subschemas.ts';

export type SchemaDraft = '4' | '7' | '2019-09' | '2020-12';

/** The draft that `$schema` names; the newest if it names none that we know. */
export function draftOf(schema: JsonSchemaNode): SchemaDraft {
  const named = isSchemaObject(schema) && typeof schema.$schema === 'string' ? schema.$schema : '';
  if (/draft-0?4/.test(named)) return '4';
  if (/draft-0?[67]/.test(named)) return '7';
  return named.includes('2019-09') ? '2019-09' : '2020-12';
}

/** Up to draft 7, keywords beside a `$ref` are ignored. */
export function refHidesSiblings(draft: SchemaDraft): boolean {
  return draft === '4' || draft === '7';
}
