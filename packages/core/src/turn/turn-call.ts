import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Budget } from '../budget.ts';
import type { Clock } from '../clock.ts';
import type { Middleware } from '../contract/middleware.ts';
import type { NestedTurnOptions, PromptLike, ToolContext } from '../contract/tool-context.ts';
import type { ToolSet } from '../contract/tool-set.ts';
import type { TurnResult } from '../contract/turn-result.ts';
import { CallLimit } from '../dispatch/call-limit.ts';
import type { ActedCall, CallRun } from '../dispatch/call-run.ts';
import { markActedOutside } from '../dispatch/cut-off.ts';
import { type ReadArguments, readArguments } from '../dispatch/read-arguments.ts';
import type { Logger } from '../logger.ts';
import type { Policy } from '../policies/policy.ts';
import type { Answer } from '../results/answer.ts';
import type { Settlement } from '../results/outcome.ts';
import { cloneJson } from '../schema/clone-json.ts';
import type { SessionLayer } from '../session/session-layer.ts';
import type { ResolvedTool } from '../tools/resolved-tool.ts';
import type { RequestedCall, SettledEntry, StartedEntry } from '../transcript/entry.ts';
import type { Staged } from '../transcript/journal.ts';
import type { CallRole } from './batch-plan.ts';
import { toolNamed } from './offer-tools.ts';
import { recordSettled, recordStarted } from './record.ts';
import type { StepTools } from './step-tools.ts';
import type { Turn } from './turn.ts';

export interface CallDetails {
  readonly call: RequestedCall & { readonly role?: CallRole };
  /** Its arguments, if they were read for the reply. */
  readonly read?: ReadArguments | undefined;
  /** True if the reply that asked for it is incomplete. */
  readonly isCutOff?: boolean | undefined;
  readonly answer: Answer | undefined;
  /** True if the turn had continued without it. */
  readonly late?: true;
  /** True if others run in parallel with it, and may end the turn. */
  readonly beside?: boolean;
  /** What the model was sent, if the transcript does not have it. */
  readonly messages?: readonly LanguageModelV4Message[];
}

/**
 * A call of a turn, in the form the pipeline takes. Every call makes one, so what all calls share is read from the
 * turn.
 */
export class TurnCall implements CallRun {
  readonly limit: CallLimit;
  readonly startedAt: number;
  actedOutside = false;
  inside: ActedCall[] | undefined;
  /** True if a process started it, and ended before it could write the result. */
  readonly begunBefore: boolean;
  readonly #turn: Turn;
  readonly #step: StepTools;
  readonly #details: CallDetails;
  /** Known once the call starts. */
  #tool: ResolvedTool | undefined;
  #input: unknown;
  /** The write of its start, if a call inside it caused it. */
  #startedInside: Promise<void> | undefined;
  #journalFailure: { readonly error: unknown } | undefined;

  constructor(turn: Turn, step: StepTools, details: CallDetails) {
    this.#turn = turn;
    this.#step = step;
    this.#details = details;
    this.limit = new CallLimit({ clock: turn.clock, within: turn.limit, cancellable: details.beside === true });
    this.startedAt = turn.clock.now();
    this.begunBefore = turn.progress.started.has(details.call.callId);
    if (this.begunBefore) markActedOutside(this);
  }

  get callId(): string {
    return this.#details.call.callId;
  }

  get toolName(): string {
    return this.#details.call.toolName;
  }

  get written(): string {
    return this.#details.call.input;
  }

  get read(): ReadArguments | undefined {
    const { read } = this.#details;
    // A copy, because changes that a tool makes to its arguments must not change what the model is shown that it wrote.
    return read !== undefined && 'value' in read ? { value: cloneJson(read.value) } : read;
  }

  get isCutOff(): boolean | undefined {
    return this.#details.isCutOff;
  }

  get idempotencyKey(): string {
    return this.#details.call.callId;
  }

  get provided(): CallRun['provided'] {
    return this.#details.call.provided;
  }

  get answer(): Answer | undefined {
    return this.#details.answer;
  }

  get rewinds(): boolean {
    return this.#details.call.role === 'rewind';
  }

  get shown(): unknown {
    return this.#turn.progress.waiting.get(this.callId)?.settlement.input;
  }

  get isResumed(): boolean {
    if (this.#details.answer === undefined) return false;
    const outcome = this.#turn.progress.waiting.get(this.callId)?.settlement.outcome;
    return outcome?.status === 'pending' && outcome.kind === 'input';
  }

  get pendingAnswered(): boolean {
    return true;
  }

  get tools(): ToolSet {
    return this.#step.tools;
  }

  get session(): SessionLayer {
    return this.#turn.session;
  }

  get outer(): CallRun | undefined {
    return this.#turn.outer;
  }

  get hostDeadline(): number | undefined {
    return this.#turn.deadline;
  }

  get budget(): Budget | undefined {
    return this.#turn.budget;
  }

  get policies(): readonly Policy[] {
    return this.#turn.options.policies ?? none;
  }

  get middleware(): readonly Middleware[] {
    return this.#turn.options.middleware ?? none;
  }

  get prompt(): PromptLike | undefined {
    const { instructions } = this.#turn.options;
    return typeof instructions === 'object' ? instructions : undefined;
  }

  get clock(): Clock {
    return this.#turn.clock;
  }

  get logger(): Logger {
    return this.#turn.logger;
  }

  get emit(): Turn['emit'] {
    return this.#turn.emit;
  }

  get ready(): Turn['ready'] {
    return this.#turn.ready;
  }

  messages(): readonly LanguageModelV4Message[] {
    return this.#details.messages ?? this.#turn.transcript.viewBefore(this.callId, this.#turn.model.provider);
  }

  onStart(tool: ResolvedTool, input: unknown): void | Promise<void> {
    const turn = this.#turn;
    const { answer } = this.#details;
    this.#tool = tool;
    this.#input = input;
    // The tool is needed again only if the turn may be rewound past the call.
    turn.checkpoint?.ran.set(this.callId, tool);
    // Only the start of a call that runs and has outside effects must be recorded: any other may simply run again.
    const runs = tool.execute !== undefined && (answer === undefined || 'approve' in answer || this.isResumed);
    if (!runs || tool.effects !== 'external' || turn.options.journal === undefined) return undefined;
    if (this.#startedInside !== undefined) return this.#startedInside;
    const { callId, toolName } = this;
    return recordStarted(turn, toStarted(callId, answer), { toolName, input });
  }

  onActInside(): void | Promise<void> {
    const { progress, options } = this.#turn;
    if (options.journal === undefined) return undefined;
    if (this.#startedInside === undefined && progress.started.has(this.callId)) return undefined;
    this.#startedInside ??= this.#recordStartedInside();
    return this.#startedInside;
  }

  /** The tool may catch the journal's error, so the end of the call fails with it too, and with that the run. */
  async #recordStartedInside(): Promise<void> {
    const { callId, toolName } = this;
    const read = readArguments(this.written);
    const input = this.#tool === undefined && 'value' in read ? read.value : this.#input;
    try {
      await recordStarted(this.#turn, toStarted(callId, this.#details.answer), { toolName, input });
    } catch (error) {
      this.#journalFailure = { error };
      throw error;
    }
  }

  onActed(acted: ActedCall): void {
    this.#turn.checkpoint?.acted.set(this.callId, acted);
  }

  onSettle(settlement: Settlement, staged: Staged): void | Promise<void> {
    if (this.#journalFailure !== undefined) throw this.#journalFailure.error;
    const isPending = settlement.outcome.status === 'pending';
    return recordSettled(this.#turn, isPending ? { kind: 'pending', settlement } : this.#toEntry(settlement), staged);
  }

  /** A nested turn: it uses this turn's model unless another is given, and its end may be this turn's end. */
  async runTurn({ endsParent, ...options }: NestedTurnOptions, ctx: ToolContext): Promise<TurnResult> {
    const turn = this.#turn;
    const result = await turn.runNested({ ...options, model: options.model ?? turn.options.model }, ctx);
    const ended = result.stop.reason === 'end_turn' && result.stop.by !== 'text';
    if (endsParent === true && ended && turn.endedBy === undefined) {
      turn.endedBy = { callId: this.callId, endsTurn: { response: result.response, output: result.output } };
      for (const [running, limit] of turn.running) if (running !== this.callId) limit.cancel('The turn has ended');
    }
    return result;
  }

  #toEntry(settlement: Settlement): SettledEntry {
    const { answer, late } = this.#details;
    const entry: { -readonly [K in keyof SettledEntry]: SettledEntry[K] } = { kind: 'settled', settlement };
    if (answer !== undefined) entry.answer = answer;
    if (late !== undefined) entry.late = late;
    const slot = this.#slotOf(settlement);
    if (slot !== undefined) entry.slot = slot;
    const endsTurn = this.#endOf(settlement);
    if (endsTurn !== undefined) entry.endsTurn = endsTurn;
    return entry;
  }

  #slotOf({ toolName, outcome }: Settlement): string | undefined {
    return outcome.status === 'ok' ? (this.#tool ?? toolNamed(this.#step.tools, toolName))?.keepLatest : undefined;
  }

  /**
   * The end of a nested turn ends this one, if the call itself succeeds: a failure is never a result. A turn that had continued without the
   * call is not ended by it.
   */
  #endOf({ callId, outcome }: Settlement): SettledEntry['endsTurn'] {
    const turn = this.#turn;
    if (turn.endedBy?.callId !== callId) return undefined;
    const { endsTurn } = turn.endedBy;
    turn.endedBy = undefined;
    return outcome.status === 'ok' && this.#details.late !== true ? endsTurn : undefined;
  }
}

function toStarted(callId: string, answer: Answer | undefined): StartedEntry {
  return { kind: 'started', callId, ...(answer === undefined ? {} : { answer }) };
}

const none: readonly never[] = [];
