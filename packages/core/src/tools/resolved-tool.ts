import type { AiSdkTool } from '../contract/ai-sdk-tool.ts';
import type { AnyTool } from '../contract/any-tool.ts';
import type { Middleware } from '../contract/middleware.ts';
import { TOOL } from '../contract/tool-mark.ts';
import { ToolDefinitionError } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';
import { describeError } from '../results/describe-error.ts';
import { compileForeignSchema, compileOutputSchema, compileSchema } from '../schema/compiled-schema.ts';
import type { CompiledSchema } from '../schema/schema-result.ts';
import type { AnySlice } from '../session/slice.ts';
import { checkDefinition, checkDescription, checkFields, longestDescription } from './check-definition.ts';
import type { ToolDefinition } from './tool-definition.ts';
import { attachedMiddleware } from './wrap-tool-set.ts';

/** A tool as the runtime uses it, whichever library made it: every field is set and its schemas are compiled. */
export interface ResolvedTool {
  readonly origin: 'lastcall' | 'ai-sdk' | 'provider';
  readonly definition: AnyTool | AiSdkTool;
  readonly description: string | ((session: never) => string);
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly execute: ((input: never, ctx: never) => unknown) | undefined;
  readonly terminal: boolean;
  readonly effects: 'none' | 'session' | 'external';
  readonly idempotent: boolean;
  readonly transition: boolean;
  readonly keepLatest: string | undefined;
  readonly forbidsRewind: boolean;
  readonly compensate: ((value: never, input: never, ctx: never) => void | Promise<void>) | undefined;
  readonly timeoutMs: number | undefined;
  readonly approval: boolean | ((input: never, ctx: never) => unknown);
  readonly render: ((value: never) => string) | undefined;
  readonly toModelOutput: ((options: never) => unknown) | undefined;
  readonly policies: readonly Policy[];
  readonly slices: readonly AnySlice[];
  readonly middleware: readonly Middleware[];
}

const resolved = new WeakMap<object, ResolvedTool>();

/** Throws a ToolDefinitionError if the tool cannot work. Done once for each object. */
export function resolveTool(name: string, definition: AnyTool | AiSdkTool): ResolvedTool {
  const known = resolved.get(definition);
  if (known !== undefined) return known;
  const fresh =
    TOOL in definition ? resolveOwn(name, definition) : resolveForeign(name, definition as AiSdkTool & OwnFields);
  resolved.set(definition, fresh);
  return fresh;
}

function resolveOwn(name: string, definition: AnyTool): ResolvedTool {
  // Checked again, because a spread copy may hold anything.
  const checked = checkDefinition(definition as unknown as ToolDefinition, name) as unknown as AnyTool;
  return {
    ...shared(definition),
    origin: 'lastcall',
    definition,
    description: checked.description,
    input: compileSchema(checked.inputSchema),
    output: checked.outputSchema === undefined ? undefined : compileOutputSchema(checked.outputSchema),
    approval: checked.approval ?? false,
    toModelOutput: undefined,
  };
}

/** The settings that configureTools may have added to a tool made elsewhere. */
type OwnFields = Pick<Partial<AnyTool>, 'approval'>;

function resolveForeign(name: string, definition: AiSdkTool & OwnFields): ResolvedTool {
  checkFields(definition as Partial<ToolDefinition>, name);
  const { description = '', needsApproval } = definition;
  const isProviders = definition.type === 'provider' || definition.type === 'provider-defined';
  return {
    ...shared(definition as Partial<AnyTool>),
    origin: isProviders ? 'provider' : 'ai-sdk',
    definition,
    description: description === '' ? '' : checkDescription(description, name, longestDescription('ai-sdk')),
    input: compileForeign(name, definition.inputSchema),
    // The AI SDK uses an output schema only for types; enforcing it would break tools that work there.
    output: undefined,
    approval: definition.approval ?? needsApproval ?? false,
    toModelOutput: definition.toModelOutput,
  };
}

function shared(
  definition: Partial<AnyTool>,
): Omit<ResolvedTool, 'origin' | 'definition' | 'description' | 'input' | 'output' | 'approval' | 'toModelOutput'> {
  return {
    execute: definition.execute,
    terminal: definition.terminal ?? false,
    effects: definition.effects ?? 'external',
    idempotent: definition.idempotent ?? false,
    transition: definition.transition ?? false,
    keepLatest: definition.keepLatest,
    forbidsRewind: definition.forbidsRewind ?? false,
    compensate: definition.compensate,
    timeoutMs: definition.timeoutMs,
    render: definition.render,
    policies: definition.policies ?? [],
    slices: definition.slices ?? [],
    middleware: attachedMiddleware(definition),
  };
}

function compileForeign(name: string, schema: unknown): CompiledSchema {
  try {
    return compileForeignSchema(schema);
  } catch (cause) {
    throw new ToolDefinitionError(name, 'inputSchema', `cannot be used: ${describeError(cause).message}`, { cause });
  }
}
