import type { ClientTool, ModelSettings, RepeatedFields } from '../../domain/conversations/turn-settings.ts';
import type { Item, ReplyReference } from './items.ts';

/** A parsed request of either kind. */
export interface Asked {
  /** The agent's name or id. */
  readonly model: string;
  readonly items: readonly (Item | ReplyReference)[];
  readonly clientTools: readonly ClientTool[];
  readonly modelSettings: ModelSettings;
  readonly isStream: boolean;
  /** False if the messages must not be stored. */
  readonly isStored: boolean;
  /** The end user, as the client names them. Conversations of two users are never merged. */
  readonly user?: string | undefined;
  /** Undefined for a chat completion, which repeats nothing. */
  readonly repeated?: RepeatedFields | undefined;
  /** The run that is continued. */
  readonly previousRunId?: string | undefined;
  /** The conversation that is continued. */
  readonly contextId?: string | undefined;
}
