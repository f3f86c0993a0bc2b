import type { ClientTool, ModelSettings } from '../../../domain/contexts/turn-settings.ts';
import type { Item } from './items.ts';

/** What a request of either kind asks for. */
export interface Asked {
  /** The agent's name or id. */
  readonly model: string;
  readonly items: readonly Item[];
  readonly clientTools: readonly ClientTool[];
  readonly modelSettings: ModelSettings;
  readonly isStream: boolean;
  /** False: the messages are not to be stored. */
  readonly isStored: boolean;
  /** The end user, as the client names them: conversations of two users never meet. */
  readonly user?: string | undefined;
  /** The run that is continued. */
  readonly previousRunId?: string | undefined;
  /** The context that is continued. */
  readonly contextId?: string | undefined;
}
