import type { ImageModelV4, LanguageModelV4 } from '@ai-sdk/provider';
import type { AgentConfig, AgentConfigInput } from './agent-config.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { GatewayLimitsInput } from './agent-limits.ts';
import type { ArtifactStoreConfig } from './artifact-store.ts';
import type { Definitions } from './definitions.ts';
import type { HookConfig, HooksConfig } from './hook-config.ts';
import type { McpExposure, McpExposureInput } from './mcp-exposure.ts';
import type { ModelFiles } from './model-files.ts';
import type { NotifyConfig, NotifyTargets } from './notify-config.ts';
import type { PlanSeed } from './plan-seed.ts';
import type { ModelPrices } from './prices.ts';
import type { ProjectSeed } from './project-seed.ts';
import type { RegisteredTools, ToolEntries } from './registered-tool.ts';
import type { RetentionInput } from './retention.ts';
import type { SettingsInput } from './settings.ts';
import type { SpaceSeed } from './space-seed.ts';

/** What `lastcall.config.ts` exports. Every field is optional. */
export interface ConfigInput extends SettingsInput {
  /** Agents that exist after each start: missing ones are created, changed ones updated. */
  readonly agents?: readonly AgentConfigInput[] | undefined;
  readonly tools?: ToolEntries | undefined;
  /** What agents are, by the name that they use as `definition`: `defineAgent({ … })`. */
  readonly definitions?: Readonly<Record<string, AgentDefinition>> | undefined;
  /** Spaces that exist after each start, with their members. */
  readonly spaces?: readonly SpaceSeed[] | undefined;
  /** Projects that exist after each start, and which of the agents and spaces belong to them. */
  readonly projects?: readonly ProjectSeed[] | undefined;
  /** Recurring plans that agents have after each start. */
  readonly plans?: readonly PlanSeed[] | undefined;
  /** Addresses at which services send signed events to agents, by name: `POST /hooks/<name>`. */
  readonly hooks?: Readonly<Record<string, HookConfig>> | undefined;
  /** Where people are notified of waiting calls, failures and limits, by name. */
  readonly notify?: Readonly<Record<string, NotifyConfig>> | undefined;
  /** Refused unless it is empty: plugins belong to definitions. */
  readonly plugins?: readonly never[] | undefined;
  /** Your own models, by the name that agents use. */
  readonly models?: Readonly<Record<string, LanguageModelV4>> | undefined;
  /** Your own image models, by `provider/model`, as tools name them. */
  readonly imageModels?: Readonly<Record<string, ImageModelV4>> | undefined;
  /** What models cost for a million tokens: runs and their steps then have a `cost`. */
  readonly prices?: ModelPrices | undefined;
  /** The models that can be shown images or PDFs. Default: those of OpenAI, Anthropic and Google. */
  readonly modelFiles?: ModelFiles | undefined;
  /** The currency of `prices` and of spend limits. Default `USD`. */
  readonly currency?: string | undefined;
  /**
   * Names of environment variables that `${env.NAME}` may read. Their values are removed from results, logs, streams and
   * stored failures.
   */
  readonly secrets?: readonly string[] | undefined;
  /**
   * What tools may connect to besides the public internet: `host`, `host:port`, `10.1.2.0/24:8080`, `[fd00::]/8:443`.
   */
  readonly egress?: { readonly allow?: readonly string[] | undefined } | undefined;
  /** Where artifacts are stored: an S3 bucket. Default: files under `home`. */
  readonly artifacts?: ArtifactStoreConfig | undefined;
  readonly limits?: GatewayLimitsInput | undefined;
  /** How many days messages, runs and the like are kept. */
  readonly retention?: RetentionInput | undefined;
  /** Origins of web pages that may use the API. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** What the MCP server at `/mcp` offers to holders of a key. Default: all tools and agents. */
  readonly mcpServer?: McpExposureInput | undefined;
  /** What spans for OpenTelemetry hold. `texts`: also those of people, models and tools. Default: no texts except those of errors. */
  readonly tracing?: { readonly texts?: boolean | undefined } | undefined;
}

/** A checked configuration. */
export interface Config extends SettingsInput {
  readonly agents: readonly AgentConfig[];
  readonly tools: RegisteredTools;
  readonly definitions: Definitions;
  readonly spaces: readonly SpaceSeed[];
  readonly plans: readonly PlanSeed[];
  readonly projects: readonly ProjectSeed[];
  readonly hooks: HooksConfig;
  readonly notify: NotifyTargets;
  readonly models: Readonly<Record<string, LanguageModelV4>>;
  readonly imageModels: Readonly<Record<string, ImageModelV4>>;
  readonly prices: ModelPrices;
  readonly modelFiles: ModelFiles;
  readonly currency: string;
  readonly secrets: readonly string[];
  readonly egress: { readonly allow: readonly string[] };
  readonly artifacts: ArtifactStoreConfig;
  readonly limits: GatewayLimitsInput;
  readonly retention: RetentionInput;
  readonly corsOrigins: readonly string[];
  readonly mcpServer: McpExposure;
  readonly tracing: { readonly texts: boolean };
}

/** Gives a configuration its type. It is checked when it is loaded, not here. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
