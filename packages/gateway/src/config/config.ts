import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { AgentConfig, AgentConfigInput } from './agent-config.ts';
import type { GatewayLimitsInput } from './agent-limits.ts';
import type { RegisteredTools, ToolEntries } from './registered-tool.ts';
import type { SettingsInput } from './settings.ts';
import type { SpaceSeed } from './space-seed.ts';

/** What `lastcall.config.ts` exports. Every field is optional. */
export interface ConfigInput extends SettingsInput {
  /** Agents that exist after each start: missing ones are created, changed ones updated. */
  readonly agents?: readonly AgentConfigInput[] | undefined;
  readonly tools?: ToolEntries | undefined;
  /** Spaces that exist after each start, with their members. */
  readonly spaces?: readonly SpaceSeed[] | undefined;
  /** Refused unless it is empty: the gateway does not use plugins yet. */
  readonly plugins?: readonly never[] | undefined;
  /** Your own models, by the name that agents use. */
  readonly models?: Readonly<Record<string, LanguageModelV4>> | undefined;
  /** Names of environment variables whose values are removed from logs and from stored failures. */
  readonly secrets?: readonly string[] | undefined;
  /** Refused unless it is empty: no connection is guarded yet, so there is nothing to open. */
  readonly egress?: { readonly allow?: readonly never[] | undefined } | undefined;
  readonly limits?: GatewayLimitsInput | undefined;
  /** Origins of web pages that may use the API. */
  readonly corsOrigins?: readonly string[] | undefined;
}

/** A checked configuration. */
export interface Config extends SettingsInput {
  readonly agents: readonly AgentConfig[];
  readonly tools: RegisteredTools;
  readonly spaces: readonly SpaceSeed[];
  readonly models: Readonly<Record<string, LanguageModelV4>>;
  readonly secrets: readonly string[];
  readonly limits: GatewayLimitsInput;
  readonly corsOrigins: readonly string[];
}

/** Gives a configuration its type. It is checked when it is loaded, not here. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
