import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from '@ai-sdk/provider';
import type { TurnEvent } from '../contract/turn-events.ts';
import { LastcallError } from '../errors.ts';
import type { ModelReply } from '../model/model-reply.ts';
import { noUsage, readUsage, type Usage } from '../model/usage.ts';
import type { NewId } from '../new-id.ts';

/** A stream that ended before the provider said it was done. Asking again usually helps. */
class CutStream extends LastcallError {
  override readonly name: string = 'CutStream';
  readonly isRetryable: true = true;

  constructor() {
    super('cut_stream', "The model's stream ended before it was finished.");
  }
}

type Block = Extract<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;

/** Collects a stream into a reply, and emits deltas as they come. */
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
  #warnings: readonly SharedV4Warning[] = [];
  /** The error of a part that could not be read and was skipped. */
  #unread: unknown;

  constructor(options: { step: number; emit: (event: TurnEvent) => void; newId: NewId }) {
    this.#step = options.step;
    this.#emit = options.emit;
    this.#newId = options.newId;
  }

  read(part: LanguageModelV4StreamPart): void {
    // A missing part is skipped like an unknown one.
    if (part === undefined || part === null) return;
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
        this.#annotate(part.type === 'text-end' ? 'text' : 'reasoning', part);
        return;
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#startInput(part.id, part.toolName);
        return;
      case 'tool-input-delta':
        this.#extendInput(part.id, part.delta);
        return;
      case 'stream-start':
        this.#warnings = [...this.#warnings, ...(part.warnings ?? [])];
        return;
      case 'finish':
        this.#finished = true;
        this.#finishReason = part.finishReason;
        this.#usage = readUsage(part.usage);
        return;
      case 'error':
        if (!isUnreadable(part.error)) throw part.error;
        this.#unread ??= part.error;
        return;
      case 'tool-call':
      case 'tool-result':
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'source':
        this.#content.push(part);
        return;
      // Providers add parts in patch releases: unknown ones are skipped.
      default:
        return;
    }
  }

  reply(): ModelReply {
    if (!this.#finished || this.#finishReason?.unified === 'interrupted') throw new CutStream();
    // The reply ended in order to call tools, and no call could be read: skipping that would silently lose the calls.
    if (this.#unread !== undefined && this.#finishReason?.unified === 'tool-calls' && !this.#hasCalls())
      throw this.#unread;
    const warned = this.#warnings.length === 0 ? {} : { warnings: this.#warnings };
    return {
      content: this.#content,
      finishReason: this.#finishReason,
      usage: this.#usage,
      callIds: this.#callIds,
      ...warned,
    };
  }

  #hasCalls(): boolean {
    return this.#content.some(({ type }) => type === 'tool-call');
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
    this.#annotate(type, part);
    if (part.delta !== '') this.#emit({ type: `${type}.delta`, step: this.#step, text: part.delta });
  }

  #annotate(type: Block['type'], { id, providerMetadata }: Pick<Block, 'providerMetadata'> & { id: string }): void {
    const block = this.#blocks.get(`${type}:${id}`);
    if (block !== undefined && providerMetadata !== undefined)
      block.providerMetadata = { ...block.providerMetadata, ...providerMetadata };
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

/**
 * How providers report an event that they do not know: it does not fit what they expect. Only that event failed, not
 * the stream.
 */
export function isUnreadable(error: unknown): boolean {
  return (error as { name?: unknown } | null | undefined)?.name === 'AI_TypeValidationError';
}
