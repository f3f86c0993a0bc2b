import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Entry, ToolSet, Transcript, TurnOptions } from '@lastcall/core';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { GatewayLimits } from '../../config/limits.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { ToldPlace } from '../../domain/inbox/inbox-place.ts';
import type { WaitingEvent } from '../../domain/inbox/render-inbox.ts';
import type { EventRow } from '../../domain/inbox/waiting-events.ts';
import type { RunRow, ThreadRow } from '../../ports/store/schema/tables.ts';
import type { LockedThread } from '../lease/lease.ts';
import type { EndingTools } from './ending-tools.ts';

/**
 * What the run's stream contains while the turn is running. `whole`: also texts and inputs while the model writes them,
 * because a client is waiting. `steps`: the steps, and the starts and progress of calls; each is sent with the next
 * write, so they cost no extra writes. `ends`: nothing.
 */
export type RunStream = 'whole' | 'steps' | 'ends';

/**
 * Everything that differs between the thread of an agent and that of a conversation: agent-thread.ts and conversation-thread.ts.
 * The rest of a run (its lease, its fence, its journal, its turn) is the same for both.
 */
export interface ThreadKind {
  /** Setups are kept by it: see `RunSetups`. */
  readonly name: ThreadRow['kind'] | 'fork';
  /** True if the agent is in spaces, which see its messages and its visible calls. */
  readonly hasSpaces: boolean;
  /** True if an inbox tells the model where the agent is. */
  readonly tellsPlaces: boolean;
  /** Which events the run's stream gets while the turn is running, besides the ends of calls. */
  readonly runStream: RunStream;
  /** True if the events of a failed run are tried again, in another run. */
  readonly retriesFailedRuns: boolean;
  /** The note that the model reads for a call that waits for an answer. */
  readonly pendingNote: string;
  /** Which of the waiting events one run takes. */
  takeEvents(held: LockedThread, events: readonly EventRow[], limits: AgentLimits): Promise<readonly EventRow[]>;
  /** The request for a new run with these events. */
  requestOf(held: LockedThread, events: readonly EventRow[]): RunRequest | Promise<RunRequest>;
  /** The agent's configuration for a run with these settings. Called once per entry of `RunSetups`. */
  configOf(config: AgentConfig, settings: TurnSettings | undefined): AgentConfig;
  /** The transcript entries of the events. `settled`: the calls whose answers are among them. */
  entriesOf(events: readonly WaitingEvent[], opening: Opening): readonly Entry[];
  /** `groups`: those that the agent has. Default: all. */
  builtInTools(limits: Pick<GatewayLimits, 'messageCharacters'>, groups: AgentConfig['builtIns']): ToolSet;
  /** The options with which the turn runs. */
  turnOptions(run: RunSetup, situation: () => string, ending: EndingTools): KindOptions;
  /** The model that is called. */
  modelOf(run: RunSetup, find: FindModel): LanguageModelV4 | Promise<LanguageModelV4>;
}

/** The inputs of a run. */
interface RunSetup {
  readonly agent: { readonly config: AgentConfig; readonly limits: AgentLimits };
  readonly settings?: TurnSettings | undefined;
}

type FindModel = (name: string | readonly string[] | undefined) => LanguageModelV4 | Promise<LanguageModelV4>;

export interface RunRequest {
  /** Undefined: the run gets a new id. */
  readonly runId?: string | undefined;
  readonly settings?: TurnSettings | undefined;
}

/** A run that begins. */
interface Opening {
  readonly run: Pick<RunRow, 'number' | 'created_at' | 'active_in'>;
  readonly transcript: Transcript;
  /** Where the model was told last that the agent is. Undefined if it was not told, or is to be told again. */
  readonly told: ToldPlace | undefined;
  /** The name of the agent. */
  readonly you: string;
  readonly settled: readonly Extract<Entry, { kind: 'settled' }>[];
}

interface KindOptions extends Pick<TurnOptions, 'batch' | 'terminating' | 'maxSteps' | 'modelSettings'> {
  readonly instructions: string;
  readonly onPending: 'suspend' | 'continue';
  /** The end of the instructions, in which the gateway explains its frames. Empty if it does not. */
  readonly explanation: string;
  /** What is shown after the conversation in each request. */
  readonly observe?: () => Observed;
}

/** A frame, a text that is not one, or a frame and then a text. */
export interface Observed {
  readonly frame?: string;
  readonly text?: string;
}
