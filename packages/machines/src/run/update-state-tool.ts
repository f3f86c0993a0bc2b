import { type AnyTool, type Middleware, type ToolSet, ToolValidationError, tool, wrapToolSet } from '@lastcall/core';
import { parseJson } from '@lastcall/core/internal';
import type { CompiledNode } from '../charter/compiled-node.ts';
import { isPlainObject, type Plain, type PlainObject } from '../charter/plain.ts';
import type { StateContext } from '../charter/state-context.ts';
import { stateDocument } from '../charter/state-schema.ts';
import { UPDATE_STATE } from '../charter/tool-names.ts';
import { StateError } from '../errors.ts';
import { bindTool } from './bind-tool.ts';

/** The built-in tool with which a model changes fields of its node's state. */
export function updateStateTool(node: CompiledNode): AnyTool {
  const made = tool({
    description: 'Changes your state: the fields you give are set, the others stay.',
    inputSchema: patchSchema(node),
    effects: 'session',
    execute: (input, ctx) => {
      try {
        (ctx as StateContext).updateState(input);
      } catch (error) {
        // The model wrote the patch, so an invalid patch is reported as invalid arguments.
        if (error instanceof StateError) throw new ToolValidationError(error.message, { cause: error });
        throw error;
      }
      const names = Object.keys(input);
      if (names.length === 0) return 'The state is unchanged: you gave no field. Give the fields to set, by name.';
      return `State updated: ${names.join(', ')}.`;
    },
  });
  const set: ToolSet = wrapToolSet({ [UPDATE_STATE]: bindTool(made, { kind: 'own' }) }, unwrapPatch);
  return set[UPDATE_STATE] as AnyTool;
}

/** Models that know similar tools put the fields into a `patch`. */
const unwrapPatch: Middleware = {
  name: 'unwrap-patch',
  repair: ({ input }) => {
    const written: unknown = typeof input === 'string' ? parse(input) : input;
    return isPlainObject(written) && isPlainObject(written.patch) ? written.patch : undefined;
  },
};

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

// If the schema says nothing about its fields, any patch is advertised; the whole state is still checked when it is applied.
const ANY_FIELDS: PlainObject = { type: 'object', additionalProperties: true };

/**
 * The state's schema with every field optional. Defaults are removed, because a patch must not set what it does not
 * name.
 */
function patchSchema({ definition: { state }, writable }: CompiledNode): PlainObject {
  const document = stateDocument(state);
  const said = isPlainObject(document?.properties) && !COMPOSED.some((key) => key in document) ? document : undefined;
  if (Array.isArray(writable)) return listedFields(said, writable as readonly string[]);
  if (said === undefined) return ANY_FIELDS;
  const { required: _required, properties, ...rest } = said;
  const fields = Object.entries(properties as PlainObject).map(([name, field]) => [name, withoutDefault(field)]);
  return { ...rest, properties: Object.fromEntries(fields) as PlainObject };
}

/** Allows those fields and no others, even if only their names are known. */
function listedFields(document: PlainObject | undefined, names: readonly string[]): PlainObject {
  const { required: _required, properties = {}, ...rest } = document ?? { type: 'object' };
  const fields = names.map((name) => [name, withoutDefault((properties as PlainObject)[name])]);
  return { ...rest, properties: Object.fromEntries(fields) as PlainObject, additionalProperties: false };
}

const COMPOSED: readonly string[] = [
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  '$ref',
  'dependentRequired',
  'minProperties',
];

function withoutDefault(field: Plain | undefined): Plain {
  if (!isPlainObject(field)) return field ?? {};
  const { default: _default, ...rest } = field;
  return rest;
}
