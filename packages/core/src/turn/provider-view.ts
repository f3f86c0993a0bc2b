import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Settlement } from '../results/outcome.ts';
import { lateAnswerMessage } from './late-answer.ts';

/** A call as it is shown under our own id, with what its provider knows it by. */
export interface KnownCall {
  readonly provider: string | undefined;
  readonly providerCallId: string | undefined;
  /** Its result holds words of ours, which may name calls. */
  readonly isToldByUs: boolean;
}

/** What must be known of the messages to give them other ids. */
export interface MessageSource {
  callNamed(callId: string): KnownCall | undefined;
  /** The answer that a message tells of, where it tells of one. */
  lateAnswerIn(message: LanguageModelV4Message): Settlement | undefined;
}

/** An id in the request: how many calls it could stand for, and where the call stands that is shown under it. */
interface Use {
  count: number;
  readonly place: Place | undefined;
}

interface Place {
  readonly callId: string;
  /** The message, and the part of it. */
  readonly at: number;
  readonly part: number;
}

/**
 * The messages as one provider gets them: its own calls under the ids that it gave them, wherever such an id stands for one
 * call alone in the whole request; every other call under ours. Kept from request to request: only what is new is read, and
 * an id that turns out to be repeated changes the two messages it stands in.
 */
export class ProviderView {
  readonly provider: string;
  readonly #source: MessageSource;
  #given: LanguageModelV4Message[] = [];
  #shown: LanguageModelV4Message[] = [];
  #uses = new Map<string, Use>();
  #known = new Map<string, KnownCall>();
  /** Where late answers are told, by call. */
  #late = new Map<string, { readonly at: number; readonly answer: Settlement }>();

  constructor(provider: string, source: MessageSource) {
    this.provider = provider;
    this.#source = source;
  }

  /** Our messages, as the provider gets them. A copy. */
  update(messages: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
    const changed = this.#changedResults(messages);
    if (changed === undefined) this.#forget();
    for (let at = this.#given.length; at < messages.length; at++)
      this.#count(messages[at] as LanguageModelV4Message, at);
    for (const at of changed ?? []) this.#show(messages[at] as LanguageModelV4Message, at);
    for (let at = this.#given.length; at < messages.length; at++)
      this.#show(messages[at] as LanguageModelV4Message, at);
    return this.#shown.slice();
  }

  /** Which of the messages that were there are results that changed; undefined where more changed than that. */
  #changedResults(messages: readonly LanguageModelV4Message[]): number[] | undefined {
    if (messages.length < this.#given.length) return undefined;
    const changed: number[] = [];
    for (let at = 0; at < this.#given.length; at++) {
      if (messages[at] === this.#given[at]) continue;
      if (messages[at]?.role !== 'tool' || this.#given[at]?.role !== 'tool') return undefined;
      changed.push(at);
    }
    return changed;
  }

  #forget(): void {
    this.#given = [];
    this.#shown = [];
    this.#uses = new Map();
    this.#known = new Map();
    this.#late = new Map();
  }

  /** Counts the ids of a message, before anything of it is shown: a later part may repeat the id of an earlier one. */
  #count(message: LanguageModelV4Message, at: number): void {
    if (message.role !== 'assistant') return;
    message.content.forEach((part, index) => {
      if (part.type !== 'tool-call') return;
      const { toolCallId: callId } = part;
      this.#learn(callId);
      const theirs = this.#theirId(callId);
      if (theirs !== callId) this.#use(callId, undefined);
      if (theirs !== undefined) this.#use(theirs, { callId, at, part: index });
    });
  }

  #use(id: string, place: Place | undefined): void {
    const known = this.#uses.get(id);
    if (known === undefined) {
      this.#uses.set(id, { count: 1, place });
      return;
    }
    known.count++;
    if (known.count === 2 && known.place !== undefined) this.#showUnderOurs(known.place);
  }

  /** Takes an id back that is not unique any more. What was shown long ago is not read again for it. */
  #showUnderOurs({ callId, at, part }: Place): void {
    const message = this.#shown[at];
    if (message?.role !== 'assistant') return;
    const content = message.content.map((one, index) => (index === part ? { ...one, toolCallId: callId } : one));
    this.#shown[at] = { ...message, content: content as typeof message.content };
    const results = this.#given[at + 1];
    if (results?.role === 'tool') this.#shown[at + 1] = this.#showResults(results);
    const late = this.#late.get(callId);
    if (late !== undefined) this.#shown[late.at] = lateAnswerMessage(late.answer, callId);
  }

  #learn(callId: string): void {
    const call = this.#source.callNamed(callId);
    if (call !== undefined) this.#known.set(callId, call);
  }

  /** What this provider called a call, if it made it. */
  #theirId(callId: string): string | undefined {
    const call = this.#known.get(callId);
    return call?.provider === this.provider ? call.providerCallId : undefined;
  }

  #idOf(callId: string): string {
    const theirs = this.#theirId(callId);
    return theirs !== undefined && this.#uses.get(theirs)?.count === 1 ? theirs : callId;
  }

  #show(message: LanguageModelV4Message, at: number): void {
    this.#given[at] = message;
    this.#shown[at] = this.#toShown(message, at);
  }

  #toShown(message: LanguageModelV4Message, at: number): LanguageModelV4Message {
    switch (message.role) {
      case 'assistant':
        return { ...message, content: message.content.map((part) => this.#showCall(part)) };
      case 'tool':
        for (const part of message.content) if (part.type === 'tool-result') this.#learn(part.toolCallId);
        return this.#showResults(message);
      case 'user':
        return this.#showLateAnswer(message, at);
      default:
        return message;
    }
  }

  #showLateAnswer(message: LanguageModelV4Message, at: number): LanguageModelV4Message {
    const answer = this.#source.lateAnswerIn(message);
    if (answer === undefined) return message;
    this.#late.set(answer.callId, { at, answer });
    return lateAnswerMessage(answer, this.#idOf(answer.callId));
  }

  #showCall<P extends AssistantPart>(part: P): P {
    if (part.type !== 'tool-call') return part;
    const toolCallId = this.#idOf(part.toolCallId);
    return toolCallId === part.toolCallId ? part : { ...part, toolCallId };
  }

  #showResults(message: ToolMessage): ToolMessage {
    return { ...message, content: message.content.map((part) => this.#showResult(part)) };
  }

  #showResult<P extends ToolMessage['content'][number]>(part: P): P {
    if (part.type !== 'tool-result') return part;
    const { toolCallId: callId, output } = part;
    const told = this.#known.get(callId)?.isToldByUs === true ? this.#retell(output) : output;
    return { ...part, toolCallId: this.#idOf(callId), output: told };
  }

  /** Texts of ours say "call <id>": what they point to must be found under that id in the same request. */
  #retell(output: LanguageModelV4ToolResultPart['output']): LanguageModelV4ToolResultPart['output'] {
    if (output.type !== 'text' && output.type !== 'error-text') return output;
    return {
      ...output,
      value: output.value.replace(/\bcall ([\w-]+)/g, (_said, id: string) => `call ${this.#idOf(id)}`),
    };
  }
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
