import { TOOL, type ToolMark } from '../contract/tool-mark.ts';
import { checkDefinition } from './check-definition.ts';
import { assertKnownExamples, assertKnownFields } from './known-fields.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** A checked definition. A plain object: a spread copy with another `execute` is again a tool. */
// An interface, because the compiler writes a user's exported tool into a declaration file by this name. For a type
// alias it would write the parts, and fail, because the mark is not exported.
export interface Tool<I = Record<string, unknown>, O = unknown, W = I>
  extends Readonly<ToolDefinition<I, O, W>>,
    ToolMark {}

/** Defines a tool. Throws an error that names the tool and the field if the definition cannot work. */
export function tool<I = Record<string, unknown>, O = unknown, W = I, Terminal extends boolean = boolean>(
  definition: ToolDefinition<I, O, W> & { terminal?: Terminal } & TerminalNeeds<Terminal>,
): Tool<I, O, W> & TerminalMark<Terminal> {
  const name = definition?.name ?? '(unnamed)';
  // Unknown fields are refused only here: a spread copy may carry a host's own marks, and tools made elsewhere have
  // other fields. They come first: if the schema is called `parameters`, the error must not be that there is no schema.
  if (typeof definition === 'object' && definition !== null) assertKnownFields(definition, name);
  const checked = checkDefinition(definition as unknown as ToolDefinition, name);
  assertKnownExamples(checked, name);
  const made = { ...(checked as unknown as ToolDefinition<I, O, W>), [TOOL]: true as const };
  return Object.freeze(made) as Tool<I, O, W> & TerminalMark<Terminal>;
}

/** The output of a terminal tool is the response, so it must run. A copy of a tool has `execute` if the tool has it. */
type TerminalNeeds<Terminal> = [Terminal] extends [true] ? { readonly execute: unknown } | ToolMark : unknown;

/** Keeps `terminal: true` in the type of a tool, so that a turn's output can be inferred. */
export type TerminalMark<Terminal> = [Terminal] extends [true] ? { readonly terminal: true } : unknown;
