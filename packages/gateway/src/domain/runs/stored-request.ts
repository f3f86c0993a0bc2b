import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Json } from '../../ports/store/schema/tables.ts';

/**
 * The parts of a request to a model that are not in the transcript. They are stored with the reply. Texts are stored once, under
 * their hashes, because they rarely change from step to step.
 */
export interface StoredRequest {
  /** The number of messages. */
  readonly messages: number;
  readonly instructions?: string;
  /** The last part that the model saw: the agent's situation, or the prompt of a request. */
  readonly observed?: string;
  readonly tools?: string;
  readonly settings?: string;
}

/** A request that was never answered. It is stored with the end of its run. */
export interface FailedRequest extends StoredRequest {
  readonly step: number;
  /** Of a machine: the conversation of the instance that asked. Its step is the one after the last reply of the run. */
  readonly thread?: string;
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

/** The parameters of a request besides its messages and tools. */
export type RequestSettings = Omit<
  LanguageModelV4CallOptions,
  'prompt' | 'tools' | 'abortSignal' | 'headers' | 'includeRawChunks'
>;
