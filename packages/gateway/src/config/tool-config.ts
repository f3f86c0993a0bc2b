import type { JsonSchemaObject } from '@lastcall/core';
import { z } from 'zod';
import { toolNameProblem } from './reserved-tool-names.ts';
import { type ToolExecution, toolProblems } from './tool-rules.ts';
import type { ExecutionType } from './visibility.ts';

/** A tool as data. The registry holds it, or an agent's configuration inline. */
export interface ToolConfig {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly executionType: ExecutionType;
  /** Whether its calls are messages of the active space. Use `isVisible` to read it. */
  readonly visible?: boolean | undefined;
  readonly execution?: ToolExecution | undefined;
  readonly display?: ToolDisplay | undefined;
  readonly terminal?: boolean | undefined;
  readonly effects?: 'none' | 'session' | 'external' | undefined;
  readonly idempotent?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Each call waits until somebody approves it. */
  readonly approval?: boolean | undefined;
  readonly keepLatest?: string | undefined;
  /** How long a pending call waits for its answer. Without it, it waits for ever. */
  readonly expiresInMs?: number | undefined;
  /** Who may answer a pending call. Default: every member of the space that its card is in. */
  readonly answerers?: Answerers | undefined;
  /** The schema of an answer. Default: any JSON. */
  readonly resultSchema?: JsonSchemaObject | undefined;
}

/**
 * A tool as a user writes it: the description defaults to the name, the input schema to an object without properties.
 */
export type ToolConfigInput = Omit<ToolConfig, 'description' | 'inputSchema'> &
  Partial<Pick<ToolConfig, 'description' | 'inputSchema'>>;

export interface ToolDisplay {
  /** The component that shows the call. */
  readonly customUI: string;
}

/** Entities by id, or members by role: one match is enough. */
export interface Answerers {
  readonly entities?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
}

const jsonObject = z.record(z.string(), z.unknown());

export const displaySchema: z.ZodType<ToolDisplay> = z.strictObject({ customUI: z.string().min(1).max(200) });

export const answerersSchema: z.ZodType<Answerers> = z
  .strictObject({
    entities: z.array(z.string().min(1).max(200)).max(1_000).optional(),
    roles: z.array(z.string().min(1).max(200)).max(100).optional(),
  })
  .refine(({ entities = [], roles = [] }) => entities.length + roles.length > 0, {
    error: 'must name somebody: with nobody named, nobody could answer. Leave it out to let every member answer.',
  });

// Ten years at most: the expiry time must still be a valid date.
export const expiresInMsSchema: z.ZodType<number> = z.int().min(1).max(315_576_000_000);

const toolNameSchema: z.ZodType<string> = z.string().superRefine((name, ctx) => {
  const problem = toolNameProblem(name);
  if (problem !== undefined) ctx.addIssue({ code: 'custom', message: problem });
});

const EMPTY_INPUT: JsonSchemaObject = { type: 'object', properties: {}, additionalProperties: false };

/** Refuses unknown fields, and everything that would fail only when the tool is called. */
export const toolConfigSchema: z.ZodType<ToolConfig> = z
  .strictObject({
    name: toolNameSchema,
    description: z.string().optional(),
    inputSchema: jsonObject.default(EMPTY_INPUT),
    outputSchema: jsonObject.optional(),
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
    answerers: answerersSchema.optional(),
    resultSchema: jsonObject.optional(),
  })
  .transform(({ description, execution: { display, ...execution } = {}, ...rest }, ctx): ToolConfig => {
    const named = { ...rest, description: description?.trim() ?? rest.name };
    const shown = { ...named, ...liftDisplay(named.display, display, ctx) };
    const config = Object.keys(execution).length === 0 ? shown : { ...shown, execution };
    for (const { path, message } of toolProblems(config)) ctx.addIssue({ code: 'custom', path: [...path], message });
    return config;
  });

/** Accepts a display that is written inside `execution`. It means the same there. */
function liftDisplay(
  outer: ToolDisplay | undefined,
  inner: unknown,
  ctx: { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void },
): { display?: ToolDisplay } {
  if (inner === undefined) return outer === undefined ? {} : { display: outer };
  const parsed = displaySchema.safeParse(inner);
  if (parsed.success && outer === undefined) return { display: parsed.data };
  const message = parsed.success
    ? 'is said twice: leave it out where display stands beside execution.'
    : 'must be { customUI: "the component\'s name" }.';
  ctx.addIssue({ code: 'custom', path: ['execution', 'display'], message });
  return {};
}
