import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Outcome } from '../results/outcome.ts';

/** A call as it is shown under our own id. */
interface SourceCall {
  readonly call: { readonly providerCallId?: string };
  readonly step: { readonly reply: { readonly provider?: string } };
  readonly outcome: Outcome | undefined;
  /** True once a newer result of its slot has replaced its own. */
  readonly isCondensed: boolean;
}

/** What must be known of the messages to give them other ids. */
export interface MessageSource {
  callNamed(callId: string): SourceCall | undefined;
}

/** An id that a provider or a host gave: how many calls of the request it could stand for, and where the first stands. */
interface Use {
  readonly id: string;
  count: number;
  /** Finds a call by our id; undefined if it is not one of ours. */
  readonly callId: string | undefined;
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
  readonly #given: LanguageModelV4Message[] = [];
  readonly #shown: LanguageModelV4Message[] = [];
  readonly #changed: number[] = [];
  readonly #uses = new Map<string, Use>();
  /** What the provider called its own calls. */
  readonly #theirs = new Map<string, Use>();
  /** Calls whose results hold words of ours. */
  readonly #told = new Set<string>();

  constructor(provider: string, source: MessageSource) {
    this.provider = provider;
    this.#source = source;
  }

  /** The results at that place are shown otherwise from now on. */
  changed(at: number): void {
    if (at < this.#given.length) this.#changed.push(at);
  }

  /**
   * Our messages, as the provider gets them. A copy. Since the last time messages were added, and results changed that it
   * was told of; where more than that happened, another view is needed.
   */
  update(messages: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
    const before = this.#given.length;
    for (let at = before; at < messages.length; at++) this.#count(messages[at] as LanguageModelV4Message, at);
    for (const at of this.#changed) this.#show(messages[at] as LanguageModelV4Message, at);
    for (let at = before; at < messages.length; at++) this.#show(messages[at] as LanguageModelV4Message, at);
    this.#changed.length = 0;
    return this.#shown.slice();
  }

  /** Counts the ids of a message, before anything of it is shown: a later part may repeat the id of an earlier one. */
  #count(message: LanguageModelV4Message, at: number): void {
    if (message.role !== 'assistant') return;
    for (let index = 0; index < message.content.length; index++) {
      const part = message.content[index] as AssistantPart;
      if (part.type === 'tool-call') this.#countCall(part.toolCallId, at, index);
    }
  }

  #countCall(callId: string, at: number, part: number): void {
    const known = this.#source.callNamed(callId);
    // One of our own ids matters only if a provider gave another call the same.
    if (known === undefined || this.#uses.has(callId)) this.#use(callId, undefined, at, part);
    const theirs = known?.step.reply.provider === this.provider ? known.call.providerCallId : undefined;
    if (theirs === undefined || theirs === callId) return;
    this.#theirs.set(callId, this.#use(theirs, callId, at, part));
    if (this.#source.callNamed(theirs) !== undefined) this.#use(theirs, undefined, at, part);
  }

  #use(id: string, callId: string | undefined, at: number, part: number): Use {
    const known = this.#uses.get(id);
    if (known === undefined) {
      const first: Use = { id, count: 1, callId, at, part };
      this.#uses.set(id, first);
      return first;
    }
    if (++known.count === 2 && known.callId !== undefined) this.#showUnderOurs(known.callId, known);
    return known;
  }

  /** Takes an id back that is not unique any more. What was shown long ago is not read again for it. */
  #showUnderOurs(callId: string, { at, part }: Use): void {
    const message = this.#shown[at];
    if (message?.role !== 'assistant') return;
    const content = message.content.map((one, index) => (index === part ? { ...one, toolCallId: callId } : one));
    this.#shown[at] = { ...message, content: content as typeof message.content };
    const results = this.#given[at + 1];
    if (results?.role === 'tool') this.#shown[at + 1] = this.#showResults(results);
  }

  #idOf(callId: string): string {
    const use = this.#theirs.get(callId);
    return use?.count === 1 ? use.id : callId;
  }

  #show(message: LanguageModelV4Message, at: number): void {
    this.#given[at] = message;
    this.#shown[at] = this.#toShown(message);
  }

  #toShown(message: LanguageModelV4Message): LanguageModelV4Message {
    switch (message.role) {
      case 'assistant':
        return this.#showCalls(message);
      case 'tool':
        for (const part of message.content) if (part.type === 'tool-result') this.#learn(part.toolCallId);
        return this.#showResults(message);
      default:
        return message;
    }
  }

  #learn(callId: string): void {
    const known = this.#source.callNamed(callId);
    if (known?.outcome !== undefined && !known.isCondensed && isToldByUs(known.outcome)) this.#told.add(callId);
    else if (this.#told.size > 0) this.#told.delete(callId);
  }

  /** Only messages made of a reply have calls that are shown otherwise. Field by field: a spread costs several times that. */
  #showCalls(message: AssistantMessage): AssistantMessage {
    let isSame = true;
    const content = message.content.map((part) => {
      if (part.type !== 'tool-call') return part;
      const toolCallId = this.#idOf(part.toolCallId);
      if (toolCallId === part.toolCallId) return part;
      isSame = false;
      const { type, toolName, input, providerOptions } = part;
      const shown: AssistantPart = { type, toolCallId, toolName, input };
      return providerOptions === undefined ? shown : { ...shown, providerOptions };
    });
    return isSame ? message : { role: 'assistant', content };
  }

  #showResults(message: ToolMessage): ToolMessage {
    let isSame = true;
    const content = message.content.map((part) => {
      if (part.type !== 'tool-result') return part;
      const { type, toolCallId: callId, toolName, output } = part;
      const toolCallId = this.#idOf(callId);
      const isTold = this.#told.size > 0 && this.#told.has(callId);
      if (toolCallId === callId && !isTold) return part;
      isSame = false;
      return { type, toolCallId, toolName, output: isTold ? this.#retell(output) : output };
    });
    return isSame ? message : { role: 'tool', content };
  }

  /** A call that was cancelled or skipped says "call <id>" of one beside it: that must be found in the same request. */
  #retell(output: LanguageModelV4ToolResultPart['output']): LanguageModelV4ToolResultPart['output'] {
    if (output.type !== 'text' && output.type !== 'error-text') return output;
    return {
      ...output,
      value: output.value.replace(/\bcall ([\w-]+)/g, (_said, id: string) => `call ${this.#idOf(id)}`),
    };
  }
}

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type AssistantPart = AssistantMessage['content'][number];
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

/** The result holds words of ours, which may name other calls of its reply. */
function isToldByUs({ status }: Outcome): boolean {
  // What waits is named by our id for good: its answer, its card and whoever answers name it so.
  return status !== 'ok' && status !== 'pending';
}
