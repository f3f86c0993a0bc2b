import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { JsonSchemaObject, TurnOptions } from '@lastcall/core';

/** The settings of one request of a conversation, in addition to the agent's configuration. They are stored with the run. */
export interface TurnSettings {
  /** The run ends with one of these tools: laws R15–R22. Without it, the turn ends with text or a terminal tool. */
  readonly terminating?: TerminatingContract;
  /** Names or ids of registered tools that the agent does not have, added for this run. */
  readonly tools?: readonly string[];
  readonly clientTools?: readonly ClientTool[];
  /** Text of an operator or of the gateway that follows the agent's instructions. */
  readonly instructions?: string;
  /** Instructions that an entity's client sent. The model reads them as data, in a frame. */
  readonly callerText?: readonly CallerText[];
  /**
   * An instruction for what the model should write now. It is the last message of each request, and is not stored as a message.
   */
  readonly prompt?: string;
  /** The AI's message, given by the caller. No model is called. */
  readonly aiMessage?: string;
  /** The one call of the run, given by the caller. No model is called. */
  readonly call?: { readonly toolName: string; readonly input: unknown };
  /** Only tools without effects are offered, e.g. for the title request of a chat page. */
  readonly isWithoutEffects?: true;
  readonly modelSettings?: ModelSettings;
  /** True if the run has no subscribers: its stream only reports the ends of calls and of the run, which costs fewer writes. */
  readonly isUnwatched?: true;
  /** The run of the response that an OpenAI client continued from. It is only reported back. */
  readonly previousRunId?: string;
  /** What the response of an OpenAI client repeats of its request, besides other settings. It is only reported back. */
  readonly repeated?: RepeatedFields;
  /** False if the messages of the run are removed when it ends, so that only its answer is kept. */
  readonly save?: false;
}

/** Which tools end the run, and how often the model is asked and nudged. */
export type TerminatingContract = NonNullable<TurnOptions['terminating']>;

export interface RepeatedFields {
  /** The agent as the client named it. */
  readonly model: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly toolChoice?: 'none';
}

export interface CallerText {
  readonly from: 'system message' | 'nudge_message';
  readonly text: string;
}

/** A tool that the caller runs itself. A call of it waits, and a later request answers it. */
export interface ClientTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchemaObject;
}

export type ModelSettings = Pick<
  LanguageModelV4CallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'stopSequences'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'responseFormat'
  | 'reasoning'
  | 'toolChoice'
  | 'providerOptions'
>;

/** The text, images and files of a person's message. */
export type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];
