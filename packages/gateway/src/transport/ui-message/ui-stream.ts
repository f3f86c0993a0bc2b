import type { ApiError } from '../../domain/api-error.ts';
import { outcomesOf } from '../../domain/calls/outcomes-of.ts';
import type { WaitingCall } from '../../domain/calls/waiting-call.ts';
import { askedCalls } from '../../domain/conversations/asked-calls.ts';
import { entriesOfRuns } from '../../domain/conversations/list-turns.ts';
import { findAnswer, findDeletion, type RunAnswer } from '../../domain/conversations/run-answer.ts';
import type { StreamEvent } from '../../ports/bus/bus.ts';
import type { Services } from '../../ports/services.ts';
import { awaitRun } from '../../runtime/chat/await-run.ts';
import type { EventFormat } from '../sse/event-format.ts';
import { RunChunks } from './run-chunks.ts';
import { storedChunks } from './stored-chunks.ts';
import { DONE, encodeChunks, type UiChunk, type UiFinishReason } from './ui-chunk.ts';

/** What one stream shows: a message of the assistant, or its continuation. */
export interface ShownTurn {
  readonly contextId: string;
  /** The runs of the turn that it shows, in order. */
  readonly runIds: readonly string[];
  readonly messageId: string;
  /** Calls that the client already has, and that were waiting then. */
  readonly known?: readonly WaitingCall[];
}

/** Writes the events of a turn's runs as a UI message stream. */
export class UiStream implements EventFormat {
  readonly interrupted = 'cut' as const;
  readonly #services: Services;
  readonly #turn: ShownTurn;
  readonly #chatId: string;
  readonly #chunks: RunChunks;

  /** `chatId`: the conversation's id as the caller knows it. */
  constructor(services: Services, turn: ShownTurn, { chatId }: { readonly chatId: string }) {
    this.#services = services;
    this.#turn = turn;
    this.#chatId = chatId;
    this.#chunks = new RunChunks(turn.known);
  }

  start(): Uint8Array {
    const { messageId } = this.#turn;
    return encodeChunks([
      { type: 'start', messageId },
      { type: 'data-run', data: { runId: this.#lastRunId, contextId: this.#chatId }, transient: true },
    ]);
  }

  async event(event: StreamEvent): Promise<Uint8Array> {
    return encodeChunks(await this.#toChunks(event));
  }

  /** `finish` reports it. */
  reset(): undefined {}

  /** The chunks after the last event. */
  finish(event: StreamEvent | undefined, signal: AbortSignal): Promise<Uint8Array> | undefined {
    if (event === undefined) return Promise.resolve(encodeEnd([{ type: 'error', errorText: SWEPT }], 'error'));
    const isLast = event.type === 'run.end' && (event.payload as { runId: string }).runId === this.#lastRunId;
    return isLast ? this.#finish(signal) : undefined;
  }

  /** The only error of a stream is that its conversation was deleted. */
  failed(): Uint8Array {
    return encodeEnd([{ type: 'error', errorText: DELETED }], 'error');
  }

  deletion(): Promise<ApiError | undefined> {
    return findDeletion(this.#services.store.db, this.#lastRunId);
  }

  get #lastRunId(): string {
    return this.#turn.runIds.at(-1) ?? '';
  }

  async #toChunks(event: StreamEvent): Promise<readonly UiChunk[]> {
    if (event.type === 'run.start') return await this.#answers();
    if (event.type !== 'tool-call.pending') return this.#chunks.of(event);
    const { callId } = event.payload as { callId: string };
    return this.#chunks.of(event, (await this.#asked([callId])).get(callId));
  }

  /** When a run continues a turn, the answers to its calls are sent: no event contains the results of people and pages. */
  async #answers(): Promise<readonly UiChunk[]> {
    return this.#chunks.answers((await this.#asked(this.#chunks.askedCalls)).values());
  }

  async #asked(callIds: readonly string[]): Promise<ReadonlyMap<string, WaitingCall>> {
    return await askedCalls(this.#services.store.db, this.#turn.contextId, callIds);
  }

  async #finish(signal: AbortSignal): Promise<Uint8Array> {
    const answer = await awaitRun(this.#services, this.#lastRunId, { signals: [signal] });
    const ended = [...(await this.#answers()), ...(await this.#endOpenCalls()), ...this.#chunks.close()];
    const { runId, status, usage } = answer;
    const stop = status === 'failed' ? { reason: answer.stop.reason } : answer.stop;
    const told: UiChunk = { type: 'data-run', data: { runId, status, stop, usage }, transient: true };
    return encodeEnd([...ended, ...this.#lastChunks(answer), told], finishReasonOf(answer));
  }

  /** A run that fails, or is cancelled, ends its calls without an event for each. */
  async #endOpenCalls(): Promise<readonly UiChunk[]> {
    const { openCalls } = this.#chunks;
    if (openCalls.length === 0) return [];
    const outcomes = await outcomesOf(this.#services.store.db, openCalls);
    return outcomes.flatMap(({ callId, outcome }) => this.#chunks.end(callId, outcome));
  }

  #lastChunks(answer: RunAnswer): readonly UiChunk[] {
    const { status, stop, response } = answer;
    if (status !== 'completed') return failureChunks(answer);
    return stop.reason === 'end_turn' && stop.by !== 'text' ? this.#chunks.textStep(response) : [];
  }
}

/** The end of the stream of a run that did not complete. */
function failureChunks({ status, stop }: RunAnswer): readonly UiChunk[] {
  if (status === 'cancelled') return [{ type: 'abort', reason: 'The run was cancelled.' }];
  return status === 'failed' ? [{ type: 'error', errorText: failureText(stop) }] : [];
}

/** A stored turn whose events are deleted. It has ended, or waits for answers. */
export async function storedTurn(
  { store: { db } }: Services,
  { contextId, runIds, messageId }: ShownTurn,
): Promise<Uint8Array<ArrayBuffer>> {
  const entries = await entriesOfRuns(db, runIds);
  const said = await storedChunks(db, contextId, entries);
  const last = await findAnswer(db, runIds.at(-1) ?? '');
  const start: UiChunk = { type: 'start', messageId };
  if (last === undefined) return encodeEnd([start, ...said], 'other');
  return encodeEnd([start, ...said, ...failureChunks(last)], finishReasonOf(last));
}

const SWEPT = 'The events of this answer are no longer stored. Reload the conversation.';
const DELETED = 'This conversation was deleted.';

function encodeEnd(chunks: readonly UiChunk[], finishReason: UiFinishReason): Uint8Array<ArrayBuffer> {
  const text = encodeChunks([...chunks, { type: 'finish', finishReason }]);
  return Buffer.concat([text, DONE]);
}

/** The message for the reader of the page. Details from the provider or the configuration are only for operators, on the run. */
function failureText({ reason }: RunAnswer['stop']): string {
  if (reason === 'max_invocations') return 'Max invocations exceeded';
  if (reason === 'max_nudges') return 'Max consecutive nudges exceeded';
  return 'The agent could not answer: the call of its model failed, its configuration is invalid, or it could not work. Try again later.';
}

function finishReasonOf({ status, stop }: RunAnswer): UiFinishReason {
  if (status === 'failed') return 'error';
  if (status === 'cancelled') return 'interrupted';
  switch (stop.reason) {
    case 'end_turn':
      return 'stop';
    case 'suspended':
      return 'tool-calls';
    case 'content_filter':
      return 'content-filter';
    case 'length':
    case 'max_steps':
    case 'budget':
    case 'deadline':
      return 'length';
    default:
      return 'other';
  }
}
