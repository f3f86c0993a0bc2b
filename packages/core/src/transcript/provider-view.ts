import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { withoutForeignCalls } from './foreign-calls.ts';
import { freezeMessages } from './freeze-messages.ts';

/** A reply and its calls that are shown under our ids, in order. Like the calls, it is never changed. */
export interface SourceStep {
  readonly reply: { readonly provider?: string };
  /** The index of its message; the message of its results follows. */
  readonly assistantAt: number;
  /** The positions of the calls among all calls. */
  readonly shown: readonly number[];
}

export interface SourceCall {
  readonly call: { readonly callId: string; readonly providerCallId?: string };
  /** Its position among all calls. */
  readonly index: number;
  /** True if its result contains our own words, which may name other calls of its reply. */
  readonly isToldByUs: boolean;
}

/**
 * An id that a provider or a host assigned: how many calls of the request it could mean (2: two or more), and where the
 * first is.
 */
interface IdUse {
  readonly id: string;
  readonly count: 1 | 2;
  /** Undefined if it is not a call that could be shown under another id. */
  readonly step: SourceStep | undefined;
  readonly callId: string;
  readonly part: number;
}

/** What must be known about the messages to change their ids. */
export interface MessageSource {
  /** The steps with calls, in order. */
  readonly steps: readonly SourceStep[];
  callAt(index: number): SourceCall;
  callNamed(callId: string): SourceCall | undefined;
  /** The result of the call at this position, under that id. */
  resultOf(index: number, toolCallId: string): LanguageModelV4ToolResultPart;
  /** Whether the id may be one of ours: a quick no, because a look-up would cost more. */
  mayBeOurs(id: string): boolean;
}

/**
 * The messages as one provider gets them: its own calls under the ids that it assigned, if such an id means only one
 * call in the whole request; every other call under ours. Kept from request to request: only new messages are read, and
 * an id that turns out to be repeated changes the two messages that contain it.
 */
export class ProviderView {
  readonly provider: string;
  readonly #source: MessageSource;
  #shown: LanguageModelV4Message[] = [];
  readonly #changed = new Set<SourceStep>();
  #uses = new Map<string, IdUse>();
  /** The id that the provider gave a call, by the call's position. */
  #theirs: (string | undefined)[] = [];
  /** How long the ids in it are. */
  #lengths: boolean[] = [];
  #nextStep = 0;
  /** How many messages from the start are frozen, because forks share them. */
  #frozen = 0;

  constructor(provider: string, source: MessageSource) {
    this.provider = provider;
    this.#source = source;
  }

  /** Called if the results of a step are shown differently from now on. */
  changed(step: SourceStep): void {
    if (step.assistantAt + 1 < this.#shown.length) this.#changed.add(step);
  }

  /**
   * Our messages, as the provider gets them, until the next change. Since the last call, messages may only have been added, and
   * results changed that were reported with `changed`; after other changes a new view is needed.
   */
  update(messages: readonly LanguageModelV4Message[]): readonly LanguageModelV4Message[] {
    this.#catchUp(messages);
    return this.#shown;
  }

  #catchUp(messages: readonly LanguageModelV4Message[]): void {
    for (let at = this.#shown.length; at < messages.length; at++) this.#add(messages[at] as LanguageModelV4Message, at);
    if (this.#changed.size === 0) return;
    for (const step of this.#changed) this.#showResults(step);
    this.#changed.clear();
  }

  /** The same view for a fork of the messages, independent afterwards. */
  fork(messages: readonly LanguageModelV4Message[], source: MessageSource): ProviderView {
    this.#catchUp(messages);
    this.#frozen = freezeMessages(this.#shown, this.#frozen);
    const forked = new ProviderView(this.provider, source);
    forked.#shown = this.#shown.slice();
    forked.#frozen = this.#frozen;
    forked.#uses = new Map(this.#uses);
    forked.#theirs = this.#theirs.slice();
    forked.#lengths = this.#lengths.slice();
    forked.#nextStep = this.#nextStep;
    return forked;
  }

  #add(given: LanguageModelV4Message, at: number): void {
    const message = given.role === 'assistant' ? withoutForeignCalls(given, this.provider) : given;
    this.#set(at, message);
    if (message.role === 'assistant') {
      const step = this.#stepAt(at);
      this.#count(message, step);
      if (step !== undefined) this.#set(at, this.#showCalls(message, step));
    } else if (message.role === 'tool') {
      const step = this.#source.steps[this.#nextStep - 1];
      if (step?.assistantAt === at - 1) this.#showResults(step);
    }
  }

  #set(at: number, message: LanguageModelV4Message): void {
    this.#shown[at] = message;
    this.#frozen = Math.min(this.#frozen, at);
  }

  #stepAt(at: number): SourceStep | undefined {
    const step = this.#source.steps[this.#nextStep];
    if (step?.assistantAt !== at) return undefined;
    this.#nextStep++;
    return step;
  }

  /** Counts the ids of a message before any of it is shown: a later part may repeat the id of an earlier one. */
  #count({ content }: AssistantMessage, step: SourceStep | undefined): void {
    let next = 0;
    for (let part = 0; part < content.length; part++) {
      const one = content[part] as AssistantPart;
      if (one.type !== 'tool-call') continue;
      const shown = this.#callOf(step, next);
      if (step === undefined || shown?.call.callId !== one.toolCallId) {
        this.#use(one.toolCallId, undefined, one.toolCallId, part);
        continue;
      }
      next++;
      this.#countCall(shown, step, part);
    }
  }

  #callOf(step: SourceStep | undefined, place: number): SourceCall | undefined {
    const index = step?.shown[place];
    return index === undefined ? undefined : this.#source.callAt(index);
  }

  #countCall(shown: SourceCall, step: SourceStep, part: number): void {
    const { callId, providerCallId: theirs } = shown.call;
    // One of our ids counts only if a foreign id is the same. Looking up a new string costs its length, so lengths are
    // compared first.
    if (this.#lengths[callId.length] === true && this.#uses.has(callId)) this.#use(callId, undefined, callId, part);
    const isTheirs = theirs !== undefined && theirs !== callId && step.reply.provider === this.provider;
    if (!isTheirs) return;
    this.#theirs[shown.index] = theirs;
    this.#use(theirs, step, callId, part);
    if (this.#source.mayBeOurs(theirs) && this.#source.callNamed(theirs) !== undefined)
      this.#use(theirs, undefined, theirs, part);
  }

  #use(id: string, step: SourceStep | undefined, callId: string, part: number): void {
    const known = this.#uses.get(id);
    if (known === undefined) {
      this.#uses.set(id, { id, count: 1, step, callId, part });
      this.#lengths[id.length] = true;
    } else if (known.count === 1) {
      this.#uses.set(id, { ...known, count: 2 });
      this.#takeBack(known);
    }
  }

  /** An id is no longer unique: its call is shown under ours. Older messages are not read again for this. */
  #takeBack({ id, step, callId, part }: IdUse): void {
    if (step === undefined) return;
    const { assistantAt: at } = step;
    const calls = this.#shown[at];
    // In the message that is being counted nothing is shown under it yet.
    if (at + 1 >= this.#shown.length || calls?.role !== 'assistant') return;
    const content = calls.content.slice();
    content[part] = { ...(content[part] as ToolCallPart), toolCallId: callId };
    this.#set(at, { role: 'assistant', content });
    this.#renameResult(step, id, callId);
  }

  /** Copied field by field and without a function for each part: this runs for every call. */
  #showCalls(message: AssistantMessage, step: SourceStep): AssistantMessage {
    const content = message.content.slice();
    let next = 0;
    for (let index = 0; index < content.length; index++) {
      const part = content[index] as AssistantPart;
      const call = this.#callOf(step, next);
      if (part.type !== 'tool-call' || call?.call.callId !== part.toolCallId) continue;
      next++;
      const toolCallId = this.#idOf(call);
      if (toolCallId === undefined) continue;
      const { type, toolName, input, providerOptions } = part;
      const shown: ToolCallPart = { type, toolCallId, toolName, input };
      content[index] = providerOptions === undefined ? shown : { ...shown, providerOptions };
    }
    return { role: 'assistant', content };
  }

  #showResults({ shown: calls, assistantAt }: SourceStep): void {
    const content: ToolPart[] = [];
    for (const index of calls) {
      const call = this.#source.callAt(index);
      content.push(this.#showResult(call, this.#idOf(call) ?? call.call.callId));
    }
    this.#set(assistantAt + 1, { role: 'tool', content });
  }

  #showResult(call: SourceCall, toolCallId: string): LanguageModelV4ToolResultPart {
    const part = this.#source.resultOf(call.index, toolCallId);
    return call.isToldByUs ? { ...part, output: this.#retell(part.output) } : part;
  }

  #renameResult(step: SourceStep, id: string, callId: string): void {
    const results = this.#shown[step.assistantAt + 1];
    if (results?.role !== 'tool') return;
    const content = results.content.map((part, index) => {
      if (part.type !== 'tool-result') return part;
      const toolCallId = part.toolCallId === id ? callId : part.toolCallId;
      const call = this.#callOf(step, index);
      // The text about one call may name another.
      return call?.isToldByUs === true ? this.#showResult(call, toolCallId) : { ...part, toolCallId };
    });
    this.#set(step.assistantAt + 1, { role: 'tool', content });
  }

  /**
   * The text of a cancelled or skipped call says "call <id>" about another one, and that id must be found in the same
   * request.
   */
  #retell(output: LanguageModelV4ToolResultPart['output']): LanguageModelV4ToolResultPart['output'] {
    if (output.type !== 'text' && output.type !== 'error-text') return output;
    return {
      ...output,
      value: output.value.replace(/\bcall ([\w-]+)/g, (_said, id: string) => `call ${this.#nameOf(id)}`),
    };
  }

  #nameOf(callId: string): string {
    const call = this.#source.callNamed(callId);
    return (call && this.#idOf(call)) ?? callId;
  }

  /** The id that the provider assigned to the call, if it means only that call. */
  #idOf({ index }: SourceCall): string | undefined {
    const theirs = this.#theirs[index];
    return theirs !== undefined && this.#uses.get(theirs)?.count === 1 ? theirs : undefined;
  }
}

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type AssistantPart = AssistantMessage['content'][number];
type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];
