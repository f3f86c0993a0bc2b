import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Origin } from '@lastcall/machines';
import { joinTexts } from '../../domain/join-texts.ts';
import { CountedMessages } from '../../domain/transcript/estimate-tokens.ts';
import { ROOT } from '../../domain/transcript/machine-rows.ts';
import { SentMessages } from '../../domain/transcript/sent-messages.ts';
import { wrapModel } from '../../models/wrap-model.ts';
import type { SentByInstance, SentOfInstance } from '../run/restore-machine.ts';
import { ModelGuard } from './guard-model.ts';
import type { MachineUsed } from './machine-used.ts';
import type { OpenedRun } from './open-run.ts';

interface GuardedLeaf {
  wrap(model: LanguageModelV4): LanguageModelV4;
  /** Notes the system text of the instance's next request, and returns it: the node's instructions, and those of the gateway. */
  instructed(own: string, ofGateway: string): string;
}

interface GuardParts {
  readonly tag: string;
  readonly explanation: string;
  readonly observe: () => object;
  /** What each instance has sent before. */
  readonly sent: SentByInstance;
  readonly requests: OpenedRun['requests'];
}

/** The way of each instance to the model: see `ModelGuard`. Each has its own system text. */
export class LeafGuards {
  readonly #leaves = new Map<string, GuardedLeaf>();
  readonly #parts: GuardParts;
  /** For requests that no instance makes, such as summaries. */
  readonly first: LanguageModelV4;
  readonly #guards = new Set<() => string>();
  /** The last request of each instance, which is its longest. */
  readonly #last = new Map<SentOfInstance, { readonly prompt: LanguageModelV4Prompt; readonly thread: string }>();

  constructor(parts: GuardParts, model: LanguageModelV4) {
    this.#parts = parts;
    const { tag, explanation } = parts;
    this.first = new ModelGuard({ tag, instructions: () => explanation, explanation, sent: new SentMessages() }).wrap(
      model,
    );
  }

  /** Shown at the end of each request. Every instance sees the same. */
  readonly observe = (): string => {
    let shown = '';
    for (const observe of this.#guards) shown = observe();
    return shown;
  };

  /** The tokens of the largest conversation that was sent, with what was written to it since. */
  largestTokens(used: MachineUsed): number {
    let largest = 0;
    for (const [sent, { prompt, thread }] of this.#last) {
      // Without the system text, as the budget of a turn is counted.
      sent.counted = sent.counted.next(prompt.slice(1));
      largest = Math.max(largest, sent.counted.tokens + used.unsentTokens(thread));
    }
    return largest;
  }

  /** Notes the requests of an instance: what it asked, and how large its conversation is. */
  #noting(model: LanguageModelV4, sent: SentOfInstance, thread: string): LanguageModelV4 {
    const by = { thread, model };
    return wrapModel(model, {
      doGenerate: (options) => model.doGenerate(options),
      doStream: (options) => {
        this.#last.set(sent, { prompt: options.prompt, thread });
        this.#parts.requests.noteOf(by, options);
        return model.doStream(options);
      },
    });
  }

  of({ instanceId, worker }: Origin & { readonly worker: boolean }): GuardedLeaf {
    const known = this.#leaves.get(instanceId);
    if (known !== undefined) return known;
    const { tag, explanation, observe, sent } = this.#parts;
    let given: string | undefined;
    let text = '';
    const before = sent.get(instanceId) ?? { messages: new SentMessages(), counted: CountedMessages.NONE };
    sent.set(instanceId, before);
    const guard = new ModelGuard({
      tag,
      instructions: () => text,
      explanation,
      sent: before.messages,
      isLasting: true,
    });
    this.#guards.add(guard.observing(observe));
    const leaf: GuardedLeaf = {
      wrap: (model) => this.#noting(guard.wrap(model), before, worker ? instanceId : ROOT),
      // The same text in the next step is the same object, which is compared at once.
      instructed(own, ofGateway) {
        if (own !== given) text = joinTexts(own, ofGateway);
        given = own;
        return text;
      },
    };
    this.#leaves.set(instanceId, leaf);
    return leaf;
  }
}
