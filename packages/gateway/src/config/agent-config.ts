import { z } from 'zod';
import { type AgentLimitsInput, agentLimitsSchema } from './agent-limits.ts';
import { type BuiltInGroup, builtInsSchema } from './built-in-groups.ts';
import { type JobsConfig, jobsSchema } from './job-webhook.ts';
import { type McpServerConfig, mcpServersSchema } from './mcp-server.ts';
import { type MiddlewareConfig, middlewareSchema } from './middleware-config.ts';
import { type ModelSettingsConfig, modelSettingsSchema } from './model-settings.ts';
import type { ToolConfig, ToolConfigInput } from './tool-config.ts';
import { toolConfigSchema } from './tool-config-schema.ts';

/** An agent's configuration as data. It is stored with a version, and a change applies from the next run on. */
export interface AgentConfig {
  readonly name: string;
  readonly description?: string | undefined;
  /** The name of a definition of the configuration file. What it brings and what this configuration says add up. */
  readonly definition?: string | undefined;
  /**
   * `provider/model`, the name of a configured model, or `rehearsal`. Of several, the next is asked if one fails before it has written
   * anything. Default: the gateway's model.
   */
  readonly model?: string | readonly string[] | undefined;
  /** The operator's instructions. They are the only part of the system text that the gateway did not write. */
  readonly instructions: string;
  /** Names or ids of registered tools, or definitions of tools that only this agent has. */
  readonly tools?: readonly (string | ToolConfig)[] | undefined;
  /** Servers whose tools the agent has too, as `server__tool`. */
  readonly mcp?: { readonly servers: readonly McpServerConfig[] } | undefined;
  /**
   * `text`: text that ends a run is posted in the space of the person who wrote. `tools`: the text of the model stays private, and only
   * `send_message` posts. Default `text`.
   */
  readonly replies?: 'text' | 'tools' | undefined;
  /** The groups of built-in tools that it has. Default: all. */
  readonly builtIns?: readonly BuiltInGroup[] | undefined;
  /** How the model is asked. */
  readonly settings?: ModelSettingsConfig | undefined;
  readonly batch?: BatchConfig | undefined;
  readonly terminating?: TerminatingConfig | undefined;
  readonly limits?: AgentLimitsInput | undefined;
  readonly middleware?: readonly MiddlewareConfig[] | undefined;
  /** The webhook that announces calls of its `external` tools. */
  readonly jobs?: JobsConfig | undefined;
}

/** An agent's configuration as a user writes it. */
export type AgentConfigInput = Omit<AgentConfig, 'instructions' | 'tools' | 'mcp'> & {
  /** May be left out if there is a definition. */
  readonly instructions?: string | undefined;
  readonly tools?: readonly (string | ToolConfigInput)[] | undefined;
  readonly mcp?: { readonly servers?: readonly McpServerConfig[] | undefined } | undefined;
  /** The same as `mcp.servers`. */
  readonly mcpServers?: readonly McpServerConfig[] | undefined;
  readonly machine?: unknown;
};

interface BatchConfig {
  readonly onError?: 'continue' | 'cancel-rest' | undefined;
  readonly afterTerminal?: 'skip' | 'run' | undefined;
  readonly history?: 'keep' | 'trim' | undefined;
}

interface TerminatingConfig {
  readonly toolIds: readonly string[];
  readonly consecutiveNudges?: number | undefined;
  readonly nudgeMessage?: string | undefined;
  readonly maxInvocations?: number | undefined;
}

const batchSchema = z
  .strictObject({
    onError: z.enum(['continue', 'cancel-rest']).optional(),
    afterTerminal: z.enum(['skip', 'run']).optional(),
    history: z.enum(['keep', 'trim']).optional(),
  })
  .meta({ id: 'BatchConfig', description: 'What happens to the other calls of a reply.' });

const terminatingSchema = z
  .strictObject({
    toolIds: z.array(z.string().min(1).max(200)).min(1).max(200),
    consecutiveNudges: z.int().min(0).max(1_000).optional(),
    nudgeMessage: z.string().min(1).max(10_000).optional(),
    maxInvocations: z.int().min(1).max(1_000_000).optional(),
  })
  .meta({ id: 'TerminatingContract', description: 'A run goes on until one of these tools succeeds.' });

const MODEL_SHAPE =
  'must be 1–200 characters without spaces, e.g. "anthropic/<model>", the name of one of the configured models, or "rehearsal".';

const NO_MACHINE =
  'is not data: write defineAgent({ machine }) under definitions of the configuration file, and name it as definition.';

const modelName = z.string().regex(/^\S{1,200}$/, { error: MODEL_SHAPE });

export const agentNameSchema: z.ZodType<string> = z
  .string()
  .max(200)
  .regex(/\S/, { error: 'must not be empty.' })
  .regex(/^\P{Cc}*$/u, { error: 'must not contain line breaks or other control characters.' });

/** Refuses unknown fields and fields of later versions, each with its path. */
export const agentConfigSchema: z.ZodType<AgentConfig> = z
  .strictObject({
    name: agentNameSchema,
    description: z.string().max(2_000).optional(),
    definition: z.string().min(1).max(200).optional(),
    model: z.union([modelName, z.array(modelName).min(1).max(10)]).optional(),
    instructions: z.string().max(200_000).optional(),
    tools: z
      .array(z.union([z.string().min(1).max(200), toolConfigSchema]))
      .max(500)
      .superRefine((tools, ctx) => {
        for (const [index, message] of repeatedTools(tools)) ctx.addIssue({ code: 'custom', path: [index], message });
      })
      .optional(),
    mcp: z.strictObject({ servers: mcpServersSchema.optional() }).optional(),
    mcpServers: mcpServersSchema.optional(),
    replies: z.enum(['text', 'tools']).optional(),
    builtIns: builtInsSchema.optional(),
    settings: modelSettingsSchema.optional(),
    batch: batchSchema.optional(),
    terminating: terminatingSchema.optional(),
    limits: agentLimitsSchema.optional(),
    middleware: z.array(middlewareSchema).max(50).optional(),
    jobs: jobsSchema.optional(),
    machine: z
      .unknown()
      .refine((machine) => machine === undefined, { error: NO_MACHINE })
      .optional(),
  })
  .refine(({ instructions, definition }) => instructions !== undefined || definition !== undefined, {
    path: ['instructions'],
    error: 'is missing: it must be a string.',
    // Also if something else is wrong, so that one error lists all problems.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .superRefine(({ mcp, mcpServers }, ctx) => {
    if ((mcp?.servers?.length ?? 0) > 0 && (mcpServers?.length ?? 0) > 0)
      ctx.addIssue({
        code: 'custom',
        path: ['mcpServers'],
        message: 'is set twice: use either mcpServers or mcp.servers.',
      });
  })
  .transform(({ mcp, mcpServers, machine: _machine, instructions = '', ...others }): AgentConfig => {
    const config = { ...others, instructions };
    const servers = [...(mcp?.servers ?? []), ...(mcpServers ?? [])];
    return servers.length === 0 ? config : { ...config, mcp: { servers } };
  });

function repeatedTools(tools: readonly (string | ToolConfig)[]): readonly (readonly [number, string])[] {
  const names = tools.map((one) => (typeof one === 'string' ? one : one.name));
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [[index, `names "${name}" a second time. Remove one.`] as const] : [],
  );
}
