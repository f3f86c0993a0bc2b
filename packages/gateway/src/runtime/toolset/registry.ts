import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { SharedResources } from '@lastcall/core';
import type { AgentLimitsInput } from '../../config/agent-limits.ts';
import type { Definitions } from '../../config/definitions.ts';
import type { RegisteredTools } from '../../config/registered-tool.ts';
import type { PersonLimits } from '../../config/spend-limits.ts';
import type { Seal } from '../../domain/keys/seal.ts';
import type { FindImageModel } from '../../models/find-image-model.ts';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { Outgoing } from '../tools/http/http-tool.ts';
import type { McpServers } from '../tools/mcp/mcp-servers.ts';
import type { ToolCaches } from './tool-caches.ts';

/** What the gateway's process provides and the database does not contain: tools, models, metrics. */
export interface Registry {
  /** The tools that agents may name. */
  readonly tools: RegisteredTools;
  /** What agents may be. Default: none, and an agent that names a definition cannot work. */
  readonly definitions?: Definitions | undefined;
  /**
   * Returns the model of that name, or the gateway's default if there is no name. Throws if the model is not available.
   */
  model(name: string | readonly string[] | undefined): LanguageModelV4 | Promise<LanguageModelV4>;
  /** The default limits, for agents that do not set their own. */
  readonly agentLimits: AgentLimitsInput;
  /** The limits of each person. Default: none. */
  readonly personLimits?: PersonLimits | undefined;
  readonly metrics?: Metrics | undefined;
  /** What spans hold. Default: no texts. */
  readonly tracing?: { readonly texts: boolean } | undefined;
  /** The resources that live as long as the gateway. Default: they live as long as the run. */
  readonly shared?: SharedResources | undefined;
  /** Removes the process's secrets from stored texts: a provider may repeat the key that it refuses. */
  readonly redact?: Redact | undefined;
  /** Connections and secrets of tools. Without it, tools reach the public internet and have no secrets. */
  readonly outgoing?: Outgoing | undefined;
  /** Encrypts stored values that only the gateway may read. Default: with a key of the store. */
  readonly seal?: Seal | undefined;
  /** The MCP servers of agents. Without it, agents have none of their tools. */
  readonly mcp?: McpServers | undefined;
  /** Image models, and where images are stored. Without it, no images can be made. */
  readonly images?: { readonly model: FindImageModel; readonly files: ArtifactFiles } | undefined;
}

/** A registry, with what a worker keeps from one run to the next. */
export interface WorkerRegistry extends Registry {
  readonly toolCaches: ToolCaches;
}
