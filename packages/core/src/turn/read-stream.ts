import type { LanguageModelV4Content, LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { LastcallError } from '../errors.ts';
import type { NewId } from '../new-id.ts';
import type { ModelReply } from './reply.ts';
import type { TurnEvent } from './turn-events.ts';
import { noUsage, readUsage, type Usage } from './usage.ts';

/** A stream that ended before the provider said it was done. Asking again is the cure. */
export class CutStream extends LastcallError {
  override readonly name: string = 'CutStream';
  readonly isRetryable: true = true;

  constructor() {
    super('cut_stream', "The model's stream ended before it was finished.");
  }
}

type Block = Extract<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;

/** Collects a stream into a reply, telling of deltas as they come. */
export class StreamReader {
  readonly #step: number;
  readonly #emit: (event: TurnEvent) => void;
  readonly #newId: NewId;
  readonly #content: LanguageModelV4Content[] = [];
  readonly #blocks = new Map<string, { -readonly [K in keyof Block]: Block[K] }>();
  readonly #callIds = new Map<string, string[]>();
  #finishReason: LanguageModelV4FinishReason | undefined;
  #usage: Usage = noUsage;
  #finished = false;

  constructor(options: { step: number; emit: (event: TurnEvent) => void; newId: NewId }) {
    this.#step = options.step;
    this.#emit = options.emit;
    this.#newId = options.newId;
  }

  read(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#open(part.id, part.type === 'text-start' ? 'text' : 'reasoning', part.providerMetadata);
        return;
      case 'text-delta':
      case 'reasoning-delta':
        this.#extend(part);
        return;
      case 'text-end':
      case 'reasoning-end':
        if (part.providerMetadata !== undefined) this.#annotate(part.id, part.providerMetadata);
        return;
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#startInput(part.id, part.toolName);
        return;
      case 'tool-input-delta':
        this.#extendInput(part.id, part.delta);
        return;
      case 'finish':
        this.#finished = true;
        this.#finishReason = part.finishReason;
        this.#usage = readUsage(part.usage);
        return;
      case 'error':
        throw part.error;
      case 'tool-call':
      case 'tool-result':
      case 'file':
      case 'custom':
      case 'source':
        this.#content.push(part);
        return;
      // Providers add parts in patch releases: what we do not know is passed over.
      default:
        return;
    }
  }

  reply(): ModelReply {
    if (!this.#finished) throw new CutStream();
    return { content: this.#content, finishReason: this.#finishReason, usage: this.#usage, callIds: this.#callIds };
  }

  #open(id: string, type: 'text' | 'reasoning', providerMetadata: Block['providerMetadata']): Block {
    const block: Block = { type, text: '', ...(providerMetadata === undefined ? {} : { providerMetadata }) };
    this.#blocks.set(`${type}:${id}`, block);
    this.#content.push(block);
    return block;
  }

  #extend(part: Extract<LanguageModelV4StreamPart, { type: 'text-delta' | 'reasoning-delta' }>): void {
    const type = part.type === 'text-delta' ? 'text' : 'reasoning';
    const block = this.#blocks.get(`${type}:${part.id}`) ?? this.#open(part.id, type, undefined);
    block.text += part.delta;
    if (part.providerMetadata !== undefined) this.#annotate(part.id, part.providerMetadata);
    if (part.delta !== '') this.#emit({ type: `${type}.delta`, step: this.#step, text: part.delta });
  }

  #annotate(id: string, providerMetadata: NonNullable<Block['providerMetadata']>): void {
    const block = this.#blocks.get(`text:${id}`) ?? this.#blocks.get(`reasoning:${id}`);
    if (block !== undefined) block.providerMetadata = { ...block.providerMetadata, ...providerMetadata };
  }

  #startInput(providerId: string, toolName: string): void {
    const callId = this.#newId();
    this.#callIds.set(providerId, [...(this.#callIds.get(providerId) ?? []), callId]);
    this.#emit({ type: 'tool-input-start', callId, toolName });
  }

  #extendInput(providerId: string, delta: string): void {
    const callId = this.#callIds.get(providerId)?.at(-1);
    if (callId !== undefined && delta !== '') this.#emit({ type: 'tool-input-delta', callId, delta });
  }
}
