import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { tagMessage, tagObserved, tagSystem } from '../../domain/tag-message.ts';
import type { SentMessages } from '../../domain/transcript/sent-messages.ts';
import { sentTools } from '../../models/model-schema.ts';
import { wrapModel } from '../../models/wrap-model.ts';
import type { Observed } from '../run/thread-kind.ts';
import { markCached } from './cache-marks.ts';
import { untagContent, untagError } from './untag-reply.ts';
import { untagStream } from './untag-stream.ts';

/**
 * The only place that knows the tag of an agent. The tag is a secret between the gateway and the model: in a request it stands in the
 * names of our frames, and the system text tells the model that only these are frames. All requests of a run pass through here.
 *
 * On the way to the model:
 * 1. The tag is written into messages that have the mark of a frame (domain/frame.ts), into the frame that `observe` gave for this
 *    request, and into our explanation of frames at the end of the instructions, in place of `hidden`. Frames are shown in words
 *    (domain/frame-words.ts), and calls by short names (domain/calls/name-calls.ts).
 * 2. It stands nowhere else. Any other text that contains it gets `hidden` in its place, in every role, field and text file: messages,
 *    names, answers, outputs, summaries, lines of frames.
 * 3. A text that imitates or repeats a frame does not get it, whatever it contains: no text makes a message a frame.
 * 4. The mark is removed, so a provider gets what it would get without it. Tools are sent with shorter schemas (model-schema.ts), and
 *    providers that need marks for their cache get them (cache-marks.ts).
 *
 * On the way back:
 * 5. The tag is replaced with `hidden` in everything that the model writes: texts, names and inputs of calls, files, also if it is
 *    split over several deltas of a stream. The deltas add up to the text that a reply without a stream would have.
 * 6. In reasoning it is hidden too, but so that the next request has it again exactly as the model wrote it, because providers sign
 *    reasoning.
 * 7. It is replaced in errors, which may quote the prompt. They keep their class and the fields that say whether to try again. The raw
 *    bodies of request and response are left out.
 *
 * So no other code needs to know the tag or to hide it: what is stored, logged or shown never had it.
 */
export class ModelGuard {
  readonly #options: GuardOptions;
  /** What `observe` returned for the request that is being sent. */
  #observed: Required<Observed> & { readonly shown: string } = NOTHING;
  /** Each request repeats the messages of the previous one. Each is converted once, before a tool could change it. */
  readonly #known = new WeakMap<LanguageModelV4Message, LanguageModelV4Message>();
  #system = { given: '', sent: '' };

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** What core shows after the conversation in each request. Called once per request. */
  observing(observe: () => Observed): () => string {
    return () => {
      const { frame = '', text = '' } = observe();
      this.#observed = { frame, text, shown: [frame, text].filter((one) => one !== '').join('\n\n') };
      return this.#observed.shown;
    };
  }

  wrap(model: LanguageModelV4): LanguageModelV4 {
    const { tag } = this.#options;
    return wrapModel(model, {
      doGenerate: async (options) => {
        const { content, finishReason, usage, warnings } = await untagged(
          () => model.doGenerate(this.#toSend(options, model)),
          tag,
        );
        return { content: content.map((part) => untagContent(part, tag)), finishReason, usage, warnings };
      },
      doStream: async (options) => {
        const { stream } = await untagged(() => model.doStream(this.#toSend(options, model)), tag);
        return { stream: untagStream(stream, tag) };
      },
    });
  }

  #toSend(options: LanguageModelV4CallOptions, model: LanguageModelV4): LanguageModelV4CallOptions {
    const observed = this.#isOwn(options) ? this.#findObserved(options) : undefined;
    const prompt = this.#options.sent.next(options.prompt, (message) =>
      message === observed
        ? { message: tagObserved(this.#observed, this.#options.tag), isKept: false }
        : this.#toModel(message),
    );
    return {
      ...options,
      ...sentTools(options, model),
      prompt: markCached(prompt, { model, last: observed, given: options.prompt }),
    };
  }

  /** True for a request of the turn itself. A turn inside a call has other instructions. */
  #isOwn({ prompt: [first] }: LanguageModelV4CallOptions): boolean {
    const { instructions, explanation } = this.#options;
    return explanation !== '' && first?.role === 'system' && first.content.startsWith(instructions());
  }

  /** Core shows it last. A text that is the same by chance, or repeats it, comes before it. */
  #findObserved({ prompt }: LanguageModelV4CallOptions): LanguageModelV4Message | undefined {
    const { frame, shown } = this.#observed;
    return frame === '' ? undefined : prompt.findLast((message) => isText(message, shown));
  }

  /** Messages that the next run sends too are kept. Those of a past transcript are frozen. */
  #toModel(message: LanguageModelV4Message): { message: LanguageModelV4Message; isKept: boolean } {
    if (message.role === 'system') return { message: this.#toSystem(message), isKept: false };
    const made = this.#known.get(message) ?? tagMessage(message, this.#options.tag);
    this.#known.set(message, made);
    return this.#options.isLasting === true || Object.isFrozen(message)
      ? { message: freeze(made), isKept: true }
      : { message: made, isKept: false };
  }

  #toSystem(message: Extract<LanguageModelV4Message, { role: 'system' }>): LanguageModelV4Message {
    const { content } = message;
    if (this.#system.given !== content) {
      const { tag, explanation, instructions } = this.#options;
      const sent = tagSystem(content, { tag, explanation, instructions: instructions() });
      this.#system = { given: content, sent };
    }
    return this.#system.sent === content ? message : { ...message, content: this.#system.sent };
  }
}

export interface GuardOptions {
  /** The agent's unguessable tag. */
  readonly tag: string;
  /** The system text of the turn. Sections that open and close change it from step to step. */
  readonly instructions: () => string;
  /** The end of the instructions, in which the gateway explains its frames. Empty if it does not. */
  readonly explanation: string;
  /** The messages that were sent before: those of the transcript are converted once, not in each run. */
  readonly sent: SentMessages;
  /** True if the next run sends the same objects. A machine that is kept has them in memory, and does not read them again. */
  readonly isLasting?: boolean;
}

const NOTHING = { frame: '', text: '', shown: '' };

async function untagged<T>(ask: () => PromiseLike<T>, tag: string): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw untagError(error, tag);
  }
}

function isText(message: LanguageModelV4Message, text: string): boolean {
  if (message.role !== 'user' || message.content.length !== 1) return false;
  const [part] = message.content;
  return part?.type === 'text' && part.text === text;
}

/** All later runs send this message, so a model must not be able to change it. */
function freeze(message: LanguageModelV4Message): LanguageModelV4Message {
  for (const part of message.content as readonly object[]) Object.freeze(part);
  Object.freeze(message.content);
  return Object.freeze(message);
}
