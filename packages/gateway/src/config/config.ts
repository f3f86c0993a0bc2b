import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { AgentConfig, AgentConfigInput } from './agent-config.ts';
import type { GatewayLimitsInput } from './agent-limits.ts';
import type { RegisteredTools, ToolEntries } from './registered-tool.ts';
import type { GivenSettings } from './settings.ts';
import type { SpaceSeed } from './space-seed.ts';

/** What `lastcall.config.ts` exports. Everything may be left out. */
export interface ConfigInput extends GivenSettings {
  /** At each start made where they are missing, and changed where the file says otherwise. */
  readonly agents?: readonly AgentConfigInput[] | undefined;
  readonly tools?: ToolEntries | undefined;
  /** At each start made where they are missing, with who is in them. */
  readonly spaces?: readonly SpaceSeed[] | undefined;
  /** Refused unless it is empty: the gateway does not use plugins yet. */
  readonly plugins?: readonly never[] | undefined;
  /** Models of your own, by the name that agents call them. */
  readonly models?: Readonly<Record<string, LanguageModelV4>> | undefined;
  /** Names of environment variables whose values are struck out of logs and of what is stored of failures. */
  readonly secrets?: readonly string[] | undefined;
  /** Refused unless it is empty: no connection is guarded yet, so there is nothing to open. */
  readonly egress?: { readonly allow?: readonly never[] | undefined } | undefined;
  readonly limits?: GatewayLimitsInput | undefined;
  /** Origins of web pages that may use the API. */
  readonly corsOrigins?: readonly string[] | undefined;
}

/** A checked configuration. */
export interface Config extends GivenSettings {
  readonly agents: readonly AgentConfig[];
  readonly tools: RegisteredTools;
  readonly spaces: readonly SpaceSeed[];
  readonly models: Readonly<Record<string, LanguageModelV4>>;
  readonly secrets: readonly string[];
  readonly limits: GatewayLimitsInput;
  readonly corsOrigins: readonly string[];
}

/** Gives a configuration its type, and nothing else: it is checked when it is loaded. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
