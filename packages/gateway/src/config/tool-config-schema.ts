import type { JsonSchemaObject } from '@lastcall/core';
import { schemaSize } from '@lastcall/core/internal';
import { z } from 'zod';
import { checkAt } from './config-problem.ts';
import { type MiddlewareConfig, middlewareSchema } from './middleware-config.ts';
import { toolNameProblem } from './reserved-tool-names.ts';
import { subAgentSchema } from './sub-agent.ts';
import type { Answerers, ToolConfig, ToolDisplay, ToolExecution } from './tool-config.ts';
import { toolProblems } from './tool-rules.ts';
import { hasUrl, isImage, isSubAgent } from './visibility.ts';
import { withoutPatterns } from './without-patterns.ts';

const jsonObject = z.record(z.string(), z.unknown());
const schemaObject: z.ZodType<JsonSchemaObject> = jsonObject.transform((schema, ctx) => {
  try {
    // Checked first, so that no other code walks a schema that is too large or too deep.
    schemaSize(schema);
    return withoutPatterns(schema);
  } catch (error) {
    ctx.addIssue({ code: 'custom', message: `cannot be used: ${(error as Error).message}` });
    return z.NEVER;
  }
});

export const displaySchema: z.ZodType<ToolDisplay> = z
  .strictObject({ customUI: z.string().min(1).max(200) })
  .meta({ id: 'ToolDisplay', description: 'The component that shows the calls of a tool.' });

export const answerersSchema: z.ZodType<Answerers> = z
  .strictObject({
    entities: z.array(z.string().min(1).max(200)).max(1_000).optional(),
    roles: z.array(z.string().min(1).max(200)).max(100).optional(),
  })
  .refine(({ entities = [], roles = [] }) => entities.length + roles.length > 0, {
    error: 'must name at least one role or entity. Leave it out to let every member answer.',
  })
  .meta({
    id: 'ToolAnswerers',
    description:
      'Who may answer the calls of a tool: entities by id or `externalId`, and roles. Default: every member.',
  });

// Ten years, so that the time of expiry is still a valid date.
export const expiresInMsSchema: z.ZodType<number> = z.int().min(1).max(315_576_000_000);
export const grantsSchema: z.ZodType<false> = z.literal(false, {
  error: 'must be false, or absent: grants are allowed by default.',
});

export const toolMiddlewareSchema: z.ZodType<readonly MiddlewareConfig[]> = z.array(middlewareSchema).max(20);

const toolNameSchema: z.ZodType<string> = z.string().superRefine((name, ctx) => {
  const problem = toolNameProblem(name);
  if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
});

const EMPTY_INPUT: JsonSchemaObject = { type: 'object', properties: {}, additionalProperties: false };
const PROMPT_INPUT: JsonSchemaObject = {
  type: 'object',
  properties: { prompt: { type: 'string', description: 'What the image shows.' } },
  required: ['prompt'],
  additionalProperties: false,
};

/** Refuses unknown fields, and everything that would fail only when the tool is called. */
export const toolConfigSchema: z.ZodType<ToolConfig> = z
  .strictObject({
    name: toolNameSchema,
    description: z.string().optional(),
    inputSchema: schemaObject.optional(),
    outputSchema: schemaObject.optional(),
    executionType: z.enum(['gateway', 'external', 'space', 'internal']),
    visible: z.boolean().optional(),
    execution: jsonObject.optional(),
    display: displaySchema.optional(),
    terminal: z.boolean().optional(),
    effects: z.enum(['none', 'session', 'external']).optional(),
    idempotent: z.boolean().optional(),
    timeoutMs: z.int().min(1).max(86_400_000).optional(),
    approval: z.boolean().optional(),
    keepLatest: z.string().min(1).max(200).optional(),
    expiresInMs: expiresInMsSchema.optional(),
    grants: grantsSchema.optional(),
    answerers: answerersSchema.optional(),
    resultSchema: schemaObject.optional(),
    middleware: toolMiddlewareSchema.optional(),
  })
  .transform(({ description, inputSchema, execution: { display, ...execution } = {}, ...rest }, ctx): ToolConfig => {
    const schema = inputSchema ?? (isImage(execution) ? PROMPT_INPUT : EMPTY_INPUT);
    const named = { ...rest, inputSchema: schema, description: description?.trim() ?? rest.name };
    const shown = { ...named, ...liftDisplay(named.display, display, ctx) };
    const config = Object.keys(execution).length === 0 ? shown : { ...shown, execution: checkNested(execution, ctx) };
    for (const { path, message } of toolProblems(config)) ctx.addIssue({ code: 'custom', path: [...path], message });
    return config;
  })
  .meta({ id: 'ToolConfig', description: "A tool's configuration." });

type AddIssue = { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void };

/** A sub-agent's own tools get their defaults, too. */
function checkNested(execution: ToolExecution, ctx: AddIssue): ToolExecution {
  if (!isSubAgent(execution) || hasUrl(execution)) return execution;
  const checked = checkAt(subAgentSchema(toolConfigSchema), execution, ['execution']);
  if (checked.ok) return checked.value as unknown as ToolExecution;
  for (const { path, message } of checked.problems) ctx.addIssue({ code: 'custom', path: [...path], message });
  return execution;
}

/** `display` may also be written inside `execution`, with the same meaning. */
function liftDisplay(outer: ToolDisplay | undefined, inner: unknown, ctx: AddIssue): { display?: ToolDisplay } {
  if (inner === undefined) return outer === undefined ? {} : { display: outer };
  const parsed = displaySchema.safeParse(inner);
  if (parsed.success && outer === undefined) return { display: parsed.data };
  const message = parsed.success
    ? 'is set twice: remove it, and keep display next to execution.'
    : 'must be { customUI: "the component\'s name" }.';
  ctx.addIssue({ code: 'custom', path: ['execution', 'display'], message });
  return {};
}
