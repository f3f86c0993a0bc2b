import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { LimitsInput } from '../../config/agent-limits.ts';
import type { RegisteredTools } from '../../config/registered-tool.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Redact } from '../../telemetry/redact.ts';
import type { ToolCaches } from './tool-caches.ts';

/** What a gateway's process brings that no database holds: code, and what is counted. */
export interface Registry {
  /** The tools that agents may name. */
  readonly tools: RegisteredTools;
  /** The model of that name; without one, the gateway's own. Throws for one that cannot be had. */
  model(name: string | undefined): LanguageModelV4 | Promise<LanguageModelV4>;
  /** What agents may use, where they say nothing themselves. */
  readonly agentLimits: LimitsInput;
  readonly metrics?: Metrics | undefined;
  /** Takes the process's secrets out of what is stored: a provider may repeat the key that it refuses. */
  readonly redact?: Redact | undefined;
}

/** The same, with what a worker keeps from one cycle to the next. */
export interface WorkerRegistry extends Registry {
  readonly toolCaches: ToolCaches;
}
