import { z } from 'zod';
import { type ModelSettingsConfig, modelSettingsSchema } from './model-settings.ts';
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
  /** The name of a definition of the configuration file, whose instructions, tools and policies it has. Not that of a machine. */
  readonly definition?: string | undefined;
  /** May be left out if there is a definition. */
  readonly instructions?: string | undefined;
  /** Names or ids of registered tools, or tools as data. The sub-agent has no other tools. */
  readonly tools?: readonly (string | ToolConfig)[] | undefined;
  /** How its model is asked. */
  readonly settings?: ModelSettingsConfig | undefined;
  readonly limits?:
    | { readonly maxSteps?: number | undefined; readonly tokensPerCycle?: number | undefined }
    | undefined;
}

const count = z.int().min(1).max(1_000_000_000).optional();

/** `toolSchema` checks the sub-agent's own tools. It is a parameter because it uses this schema itself. */
export function subAgentSchema(toolSchema: z.ZodType<ToolConfig>): z.ZodType<SubAgentExecution> {
  const tool = toolSchema.superRefine((config, ctx) => {
    if (isForWorkers(config)) ctx.addIssue({ code: 'custom', path: ['executionType'], message: FOR_WORKERS });
  });
  return z.strictObject({
    agentConfig: z
      .strictObject({
        name: z.string().min(1).max(200).optional(),
        description: z.string().max(2_000).optional(),
        model: z
          .string()
          .regex(/^\S{1,200}$/, { error: 'must be 1–200 characters without spaces.' })
          .optional(),
        definition: z.string().min(1).max(200).optional(),
        instructions: z.string().max(200_000).optional(),
        tools: z
          .array(z.union([z.string().min(1).max(200), tool]))
          .max(500)
          .optional(),
        settings: modelSettingsSchema.optional(),
        limits: z.strictObject({ maxSteps: count, tokensPerCycle: count }).optional(),
      })
      .refine(({ instructions, definition }) => instructions !== undefined || definition !== undefined, {
        path: ['instructions'],
        error: 'is missing: it must be a string.',
      }),
    includeContext: z.boolean().optional(),
    timeout: z.int().min(1).max(86_400_000).optional(),
  });
}

const FOR_WORKERS =
  'is of no use to a sub-agent: workers claim calls of this tool, and they cannot see the calls of a sub-agent.';

/** True if workers claim and answer the calls of the tool. A sub-agent can ask people, but it offers no jobs. */
export function isForWorkers(tool: Pick<ToolConfig, 'executionType' | 'execution'>): boolean {
  return tool.executionType === 'external' && isInteractive(tool);
}
