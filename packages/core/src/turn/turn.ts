import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Budget, nestBudget } from '../budget.ts';
import type { Clock } from '../clock.ts';
import { assertMiddleware } from '../contract/middleware.ts';
import { type CheckedContract, checkContract } from '../contract/terminating.ts';
import type { NestedTurnOptions, ToolContext } from '../contract/tool-context.ts';
import type { TurnEvent } from '../contract/turn-events.ts';
import type { TurnResult } from '../contract/turn-result.ts';
import { randomId, systemClock } from '../defaults.ts';
import { CallLimit } from '../dispatch/call-limit.ts';
import type { CallRun } from '../dispatch/call-run.ts';
import { checkSignal, earliest, outerRun } from '../dispatch/dispatch-options.ts';
import { safeListener } from '../dispatch/safe-listener.ts';
import { OptionsError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { liftModel } from '../model/lift-model.ts';
import type { NewId } from '../new-id.ts';
import { createSession } from '../session/create-session.ts';
import { joinSession } from '../session/join-session.ts';
import { SessionLayer } from '../session/session-layer.ts';
import type { EndedInside, ReplyEntry } from '../transcript/entry.ts';
import { goesOn, type TurnProgress } from '../transcript/progress.ts';
import { Transcript } from '../transcript/transcript.ts';
import type { BatchRules } from './batch-rules.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { StepTools } from './step-tools.ts';
import { turnBudget } from './turn-budget.ts';
import { checkTurnOptions, type TurnOptions } from './turn-options.ts';

/** A running turn: its checked options, and how far it has come. */
export interface Turn {
  readonly options: TurnOptions;
  readonly model: LanguageModelV4;
  readonly transcript: Transcript;
  readonly session: SessionLayer;
  /** The call that the turn runs in, if there is one. */
  readonly outer: CallRun | undefined;
  readonly contract: CheckedContract | undefined;
  readonly rules: BatchRules;
  /** What ends the work: the host's abort, or the deadline minus the time reserved for the last answer. */
  readonly limit: CallLimit;
  readonly budget: Budget | undefined;
  readonly deadline: number | undefined;
  readonly maxSteps: number;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  /** Undefined if there is no listener. */
  readonly emit: ((event: TurnEvent) => void) | undefined;
  /** Resolves when the listener has caught up. */
  readonly ready: (() => Promise<void> | undefined) | undefined;
  /** The transcript's progress: it follows everything that is written to the transcript. */
  readonly progress: TurnProgress;
  /** The reply whose batch is settled and whose meaning is decided, in this run of the loop. */
  handled: ReplyEntry | undefined;
  /** Runs a turn inside a call of this one. */
  readonly runNested: (options: NestedTurnOptions, ctx: ToolContext) => Promise<TurnResult>;
  /** The call with a nested turn that also ended this one, until the call has settled. */
  endedBy: { readonly callId: string; readonly endsTurn: EndedInside } | undefined;
  /** The point to which a rewind goes back, once there is one. */
  checkpoint: Checkpoint | undefined;
  /** The limits of the calls that are running now, by call. */
  readonly running: Map<string, CallLimit>;
  /**
   * True if system messages in the middle of a conversation are sent as user messages, because the provider refused
   * them.
   */
  systemAsUser: boolean;
  /** The last offered tools: if nothing has changed since, they are offered again unchanged. */
  lastTools: StepTools | undefined;
}

const DEFAULT_MAX_STEPS = 50;

/** Checks the options and fills in the defaults. Throws before anything runs. */
export function openTurn(options: TurnOptions, runNested: Turn['runNested'], ready?: Turn['ready']): Turn {
  checkTurnOptions(options);
  const { parent } = options;
  const outer = outerRun(parent);
  const clock = options.clock ?? outer?.clock ?? systemClock;
  const session = joinSession(options.session, parent?.session) ?? SessionLayer.of(createSession());
  session.assertUsable();
  const contract = options.terminating === undefined ? undefined : checkContract(options.terminating);
  const logger = options.logger ?? parent?.logger ?? session.logger;
  if (options.middleware !== undefined) assertMiddleware(options.middleware);
  const deadline = earliest(clock.now(), options.deadline, outer?.limit.deadline);
  const transcript = options.transcript ?? new Transcript();
  const { progress } = transcript;
  const budget = nestBudget(turnBudget(options.budget, goesOnWith(options, progress)), outer?.budget);
  return {
    options,
    model: liftModel(options.model),
    transcript,
    session,
    outer,
    contract,
    rules: { onError: options.batch?.onError ?? 'continue', afterTerminal: options.batch?.afterTerminal ?? 'skip' },
    limit: new CallLimit({
      clock,
      deadline: deadline === undefined ? undefined : deadline - (options.reserveMs ?? 0),
      signal: checkSignal(options.signal),
      within: outer?.limit,
      cancellable: outer !== undefined,
    }),
    budget,
    deadline,
    maxSteps: options.maxSteps ?? (contract === undefined ? DEFAULT_MAX_STEPS : Number.POSITIVE_INFINITY),
    clock,
    // Random ids never repeat; a host's own may.
    newId: options.newId === undefined ? randomId : uniqueIds(options.newId, transcript),
    logger,
    emit: untilTurnEnd(options.onEvent, logger),
    ready,
    progress,
    handled: undefined,
    runNested,
    endedBy: undefined,
    checkpoint: undefined,
    running: new Map(),
    systemAsUser: false,
    lastTools: undefined,
  };
}

/** The reply that is still to be handled. */
export function openReply({ progress, handled }: Turn): ReplyEntry | undefined {
  return progress.open === handled ? undefined : progress.open;
}

/** The progress of the turn that is resumed, if one is. */
function goesOnWith(options: TurnOptions, progress: TurnProgress): TurnProgress | undefined {
  return isNew(options) || !goesOn(progress.stop) ? undefined : progress;
}

/** Whether the options begin a turn rather than continue one. */
export function isNew(options: TurnOptions): boolean {
  return (
    options.prompt !== undefined ||
    (options.messages !== undefined && options.messages.length > 0) ||
    options.transcript === undefined
  );
}

function untilTurnEnd(listener: ((event: TurnEvent) => void) | undefined, logger: Logger): Turn['emit'] {
  const tell = safeListener(listener, logger);
  if (tell === undefined) return undefined;
  let ended = false;
  return (event) => {
    // Events of abandoned work are dropped, because the turn's end is the last event.
    if (ended) return;
    ended = event.type === 'turn.end';
    tell(event);
  };
}

/**
 * Ids that no call of the transcript has. The host's generator may start again at 1 when a turn is resumed; a call with
 * the id of another would count as settled, and never run.
 */
function uniqueIds(newId: NewId, transcript: Transcript): NewId {
  // Ids that were assigned and may not be in the transcript yet: a reply is recorded when it is complete.
  const given = new Set<string>();
  const isTaken = (id: string): boolean => given.has(id) || transcript.hasCall(id);
  return () => {
    const id: unknown = newId();
    if (typeof id !== 'string' || id === '') throw new OptionsError('newId', 'must give a text that is not empty.');
    let unique = id;
    for (let count = 2; isTaken(unique); count++) unique = `${id}-${count}`;
    given.add(unique);
    return unique;
  };
}
