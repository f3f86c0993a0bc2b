import { z } from 'zod';
import type { ToolConfig } from './tool-config.ts';
import { isInteractive } from './visibility.ts';

/** A tool that runs a sub-agent, which has its own model and its own tools. */
export interface SubAgentExecution {
  readonly agentConfig: SubAgentConfig;
  /** Whether the sub-agent is shown the conversation of the agent that calls it. */
  readonly includeContext?: boolean | undefined;
  /** Milliseconds for the whole call. */
  readonly timeout?: number | undefined;
}

export interface SubAgentConfig {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Default: the model of the agent that calls it. */
  readonly model?: string | undefined;
  readonly instructions: string;
  /** Names or ids of registered tools, or tools as data. The sub-agent has no other tools. */
  readonly tools?: readonly (string | ToolConfig)[] | undefined;
  readonly limits?:
    | { readonly maxSteps?: number | undefined; readonly tokensPerCycle?: number | undefined }
    | undefined;
}

const count = z.int().min(1).max(1_000_000_000).optional();

/** `toolSchema` checks the sub-agent's own tools. It is a parameter because it uses this schema itself. */
export function subAgentSchema(toolSchema: z.ZodType<ToolConfig>): z.ZodType<SubAgentExecution> {
  const tool = toolSchema.superRefine((config, ctx) => {
    if (waits(config)) ctx.addIssue({ code: 'custom', path: ['executionType'], message: WAITS });
  });
  return z.strictObject({
    agentConfig: z.strictObject({
      name: z.string().min(1).max(200).optional(),
      description: z.string().max(2_000).optional(),
      model: z
        .string()
        .regex(/^\S{1,200}$/, { error: 'must be 1–200 characters without spaces.' })
        .optional(),
      instructions: z.string().max(200_000),
      tools: z
        .array(z.union([z.string().min(1).max(200), tool]))
        .max(500)
        .optional(),
      limits: z.strictObject({ maxSteps: count, tokensPerCycle: count }).optional(),
    }),
    includeContext: z.boolean().optional(),
    timeout: z.int().min(1).max(86_400_000).optional(),
  });
}

const WAITS =
  'is of no use to a sub-agent: calls of this tool wait for an answer from outside, and a sub-agent ends with the call it runs in.';

/** True if a call of the tool waits for an answer from outside. The answer cannot wake a sub-agent. */
export function waits(tool: Pick<ToolConfig, 'executionType' | 'execution' | 'approval'>): boolean {
  return isInteractive(tool) || tool.approval === true;
}
