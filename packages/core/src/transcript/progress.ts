import { addUsage, noUsage, type Usage } from '../model/usage.ts';
import type { Answer } from '../results/answer.ts';
import type { Settlement } from '../results/outcome.ts';
import type { EndedInside, Entry, ReplyEntry, RequestedCall } from './entry.ts';
import { fitsWait } from './fits-wait.ts';
import type { Stop } from './stop.ts';
import { isTextReply } from './text-reply.ts';

/** How far a turn has come. It is read from the transcript, so a resumed turn continues its counts. */
export interface TurnProgress {
  steps: number;
  /** Consecutive replies in text. */
  textReplies: number;
  rewinds: number;
  lengthTries: number;
  usage: Usage;
  /** The reply whose batch is still to be settled, or whose meaning is still to be decided. */
  open: ReplyEntry | undefined;
  /** The settlements of this turn, in the order they came. */
  settled: Settlement[];
  /** True if a call of this turn was refused because the budget was used up. */
  refusedByBudget: boolean;
  /** The settlements since the checkpoint, or since the last rewind to it. */
  sinceCheckpoint: Settlement[];
  /** The calls that waited for an answer before the checkpoint: a rewind leaves them waiting. */
  waitedBefore: ReadonlySet<string>;
  /** What earlier rewinds to the checkpoint could not undo. */
  remaining: readonly string[];
  /** Calls whose effects a rewind has begun to undo. */
  compensated: Set<string>;
  /** Whether this turn has a checkpoint, and the last call asked for since, or since the last rewind to it. */
  checkpointed: boolean;
  lastCall: string | undefined;
  /** How the turn ended, if it has. */
  stop: Stop | undefined;
  readonly started: Set<string>;
  /** Calls with a nested turn that also ended this one, with its result. */
  readonly ending: Map<string, EndedInside>;
  /** Calls of this and earlier turns that wait for an answer, which may come a turn later. */
  readonly waiting: Map<string, Waiting>;
  readonly answers: Map<string, Answer>;
}

interface Waiting {
  readonly call: RequestedCall;
  readonly settlement: Settlement;
}

export function readProgress(entries: readonly Entry[]): TurnProgress {
  const progress: TurnProgress = {
    ...fresh(),
    started: new Set(),
    ending: new Map(),
    waiting: new Map(),
    answers: new Map(),
  };
  for (const entry of entries) follow(progress, entry);
  return progress;
}

/** An independent copy of the progress. */
export function copyProgress(progress: TurnProgress): TurnProgress {
  return {
    ...progress,
    settled: progress.settled.slice(),
    sinceCheckpoint: progress.sinceCheckpoint.slice(),
    compensated: new Set(progress.compensated),
    started: new Set(progress.started),
    ending: new Map(progress.ending),
    waiting: new Map(progress.waiting),
    answers: new Map(progress.answers),
  };
}

/** Updates the progress with an entry. */
export function follow(progress: TurnProgress, entry: Entry): void {
  switch (entry.kind) {
    case 'turn':
      // Whether a call had started matters until its turn is over. If kept for ever, each fork of a long history would
      // copy them all.
      for (const { callId } of progress.settled) progress.started.delete(callId);
      Object.assign(progress, fresh());
      return;
    case 'reply':
      followReply(progress, entry);
      return;
    case 'started':
      progress.started.add(entry.callId);
      if (entry.answer !== undefined) progress.answers.set(entry.callId, entry.answer);
      return;
    case 'pending':
      followPending(progress, entry.settlement);
      return;
    case 'settled':
      if (progress.waiting.size > 0) progress.waiting.delete(entry.settlement.callId);
      progress.settled.push(entry.settlement);
      progress.sinceCheckpoint.push(entry.settlement);
      if (isRefusalByBudget(entry.settlement)) progress.refusedByBudget = true;
      if (entry.endsTurn !== undefined) progress.ending.set(entry.settlement.callId, entry.endsTurn);
      if (entry.answer !== undefined) progress.answers.set(entry.settlement.callId, entry.answer);
      return;
    case 'nudge':
      if (entry.why === 'length') progress.lengthTries++;
      progress.open = undefined;
      return;
    case 'rewind':
      progress.rewinds++;
      progress.sinceCheckpoint = [];
      progress.remaining = entry.remaining;
      progress.lastCall = undefined;
      progress.open = undefined;
      return;
    case 'stop':
      progress.stop = entry.stop;
      return;
    case 'checkpoint':
      progress.sinceCheckpoint = [];
      progress.remaining = [];
      progress.waitedBefore = new Set(progress.waiting.keys());
      progress.checkpointed = true;
      progress.lastCall = undefined;
      return;
    case 'compensating':
      progress.compensated.add(entry.callId);
      return;
    case 'message':
    case 'trimmed':
      return;
  }
}

function followReply(progress: TurnProgress, reply: ReplyEntry): void {
  progress.stop = undefined;
  progress.steps++;
  progress.textReplies = isTextReply(reply) ? progress.textReplies + 1 : 0;
  progress.usage = addUsage(progress.usage, reply.usage);
  progress.open = reply;
  if (progress.checkpointed) progress.lastCall = reply.calls[0]?.callId ?? progress.lastCall;
}

function followPending(progress: TurnProgress, settlement: Settlement): void {
  const { callId } = settlement;
  const call = progress.waiting.get(callId)?.call ?? progress.open?.calls.find((one) => one.callId === callId);
  // It ran and returned that an answer will come from outside: nothing about it is in doubt.
  progress.started.delete(callId);
  // A tool may ask again. The answer to its last question does not answer the new one.
  const answer = progress.answers.get(callId);
  if (answer !== undefined && fitsWait(answer, settlement)) progress.answers.delete(callId);
  if (call !== undefined) progress.waiting.set(callId, { call, settlement });
}

function isRefusalByBudget({ outcome }: Settlement): boolean {
  return outcome.status === 'error' && outcome.code === 'budget';
}

/** Whether there is nothing left to do for a turn that stopped this way. */
export function isFinished(stop: Stop | undefined): boolean {
  return stop?.reason === 'end_turn' || stop?.reason === 'transition';
}

/** Whether a turn that stopped this way continues as the same turn. After a limit, continuing is a new allowance. */
export function goesOn(stop: Stop | undefined): boolean {
  return stop === undefined || stop.reason === 'suspended' || stop.reason === 'aborted' || stop.reason === 'error';
}

const NONE: ReadonlySet<string> = new Set();

function fresh(): Omit<TurnProgress, 'started' | 'ending' | 'waiting' | 'answers'> {
  return {
    steps: 0,
    textReplies: 0,
    rewinds: 0,
    lengthTries: 0,
    usage: noUsage,
    open: undefined,
    settled: [],
    refusedByBudget: false,
    sinceCheckpoint: [],
    waitedBefore: NONE,
    remaining: [],
    compensated: new Set(),
    checkpointed: false,
    lastCall: undefined,
    stop: undefined,
  };
}
