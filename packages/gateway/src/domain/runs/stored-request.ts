import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Json } from '../../ports/store/tables.ts';

/**
 * What a request to a model had beside the conversation, which the transcript has: it is kept with the reply. Texts are stored once,
 * under their hashes, because they rarely change from step to step.
 */
export interface StoredRequest {
  /** How many messages it had. */
  readonly messages: number;
  readonly instructions?: string;
  /** What the model was shown last: the agent's situation, or the prompt of a request. */
  readonly observed?: string;
  readonly tools?: string;
  readonly settings?: string;
}

/** A request that was never answered. It is kept with the end of its run. */
export interface FailedRequest extends StoredRequest {
  readonly step: number;
  readonly model: string;
  readonly provider: string;
  /** The first row that was written after it was sent. */
  readonly beforeSeq: number;
}

/** A text under its hash. */
export interface RequestText {
  readonly hash: string;
  readonly text: Json;
}

/** What a model is asked besides its messages and tools. */
export type RequestSettings = Omit<
  LanguageModelV4CallOptions,
  'prompt' | 'tools' | 'abortSignal' | 'headers' | 'includeRawChunks'
>;
