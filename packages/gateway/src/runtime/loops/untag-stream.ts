import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { hideTag, hideTagIn, hideTagInReasoning, hideTagInReasoningOf } from '../../domain/frame-tag.ts';
import { untagContent, untagError } from './untag-reply.ts';

type StreamPart = LanguageModelV4StreamPart;

/** A streamed reply without the tag. A delta that ends like the beginning of the tag is held back until it is known how it goes on. */
export function untagStream(stream: ReadableStream<StreamPart>, tag: string): ReadableStream<StreamPart> {
  const reader = stream.getReader();
  const untag = new StreamUntagger(tag);
  return new ReadableStream<StreamPart>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          for (const part of done ? untag.end() : untag.next(value)) controller.enqueue(part);
          if (done) controller.close();
        } catch (error) {
          controller.error(untagError(error, tag));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

type DeltaType = 'text-delta' | 'reasoning-delta' | 'tool-input-delta';

class StreamUntagger {
  readonly #tag: string;
  /** What is held back of each text that is being written, by type and id. */
  readonly #held = new Map<string, { readonly type: DeltaType; readonly id: string; readonly text: string }>();

  constructor(tag: string) {
    this.#tag = tag;
  }

  next(part: StreamPart): readonly StreamPart[] {
    // Core skips a missing part.
    if (part === undefined || part === null) return [part];
    switch (part.type) {
      case 'reasoning-delta':
        return [{ ...hideTagInReasoningOf(part, this.#tag), delta: this.#extend(part.type, part.id, part.delta) }];
      case 'text-delta':
      case 'tool-input-delta':
        return [{ ...hideTagIn(part, this.#tag), delta: this.#extend(part.type, part.id, part.delta) }];
      case 'text-end':
        return [...this.#rest('text-delta', part.id), hideTagIn(part, this.#tag)];
      case 'tool-input-end':
        return [...this.#rest('tool-input-delta', part.id), hideTagIn(part, this.#tag)];
      case 'reasoning-start':
        return [hideTagInReasoningOf(part, this.#tag)];
      case 'reasoning-end':
        return [...this.#rest('reasoning-delta', part.id), hideTagInReasoningOf(part, this.#tag)];
      case 'tool-call':
        return [...this.#rest('tool-input-delta', part.toolCallId), untagContent(part, this.#tag)];
      case 'tool-result':
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'source':
        return [untagContent(part, this.#tag)];
      case 'error':
        return [{ ...part, error: untagError(part.error, this.#tag) }];
      case 'finish':
        return [...this.end(), hideTagIn(part, this.#tag)];
      default:
        return [hideTagIn(part, this.#tag)];
    }
  }

  /** What is still held back: no tag was begun there. */
  end(): readonly StreamPart[] {
    return this.#held.size === 0 ? [] : [...this.#held.values()].flatMap(({ type, id }) => this.#rest(type, id));
  }

  #extend(type: DeltaType, id: string, delta: string): string {
    const key = `${type}:${id}`;
    const text = `${this.#held.get(key)?.text ?? ''}${delta}`;
    const held = beginningAtEnd(text, this.#tag);
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, { type, id, text: text.slice(text.length - held) });
    return this.#hide(type, text.slice(0, text.length - held));
  }

  #rest(type: DeltaType, id: string): readonly StreamPart[] {
    const key = `${type}:${id}`;
    const held = this.#held.get(key);
    if (held === undefined) return [];
    this.#held.delete(key);
    return [{ type, id, delta: this.#hide(type, held.text) }];
  }

  #hide(type: DeltaType, text: string): string {
    return type === 'reasoning-delta' ? hideTagInReasoning(text, this.#tag) : hideTag(text, this.#tag);
  }
}

/** How many characters at the end of the text may be the beginning of a tag. A tag that is complete does not count. */
function beginningAtEnd(text: string, tag: string): number {
  const lower = text.toLowerCase();
  const whole = lower.lastIndexOf(tag);
  const from = Math.max(lower.length - tag.length + 1, whole === -1 ? 0 : whole + tag.length);
  const first = tag.charAt(0);
  for (let at = lower.indexOf(first, from); at !== -1; at = lower.indexOf(first, at + 1))
    if (tag.startsWith(lower.slice(at))) return lower.length - at;
  return 0;
}
