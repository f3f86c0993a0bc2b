import type { LanguageModelV4Content, LanguageModelV4FinishReason, SharedV4Warning } from '@ai-sdk/provider';
import type { Usage } from './usage.ts';

/** What a model gave, however it came. */
export interface ModelReply {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason | undefined;
  readonly usage: Usage;
  /** What the provider said about the request, e.g. that it does not support a setting. */
  readonly warnings?: readonly SharedV4Warning[];
  /** How often the model was asked. Default 1. */
  readonly attempts?: number;
  /** How many of the attempts before had begun a reply that broke off. Default 0. */
  readonly brokenOff?: number;
  /** Ids that calls were given while they streamed in, by the provider's id, in order. */
  readonly callIds?: Map<string, string[]>;
}
