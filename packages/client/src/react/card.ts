import type { Problem, Verdict } from '../verdict.ts';
import type { Answer, CardCall, Message } from '../wire.generated.ts';
import type { CardItem } from './space-view.ts';

/** A call, as the component that shows it gets it. */
export interface Card<I = unknown> extends Partial<CardCall> {
  readonly callId: string;
  readonly runId: string | undefined;
  readonly spaceId: string | undefined;
  readonly toolName: string;
  /** Undefined while the model writes it: then `inputText` is what there is of it. */
  readonly input: I | undefined;
  readonly inputText: string;
  readonly output: unknown;
  readonly progress: unknown;
}

export type CardState =
  /** The model writes the input. */
  | { readonly status: 'writing' }
  | { readonly status: 'running' }
  | { readonly status: 'waiting' }
  /** The answer is on its way. It is repeated until it is known to have arrived. */
  | { readonly status: 'sending'; readonly given: Answer }
  /** It was not accepted: what was wrong, and where. It may be answered again. */
  | { readonly status: 'refused'; readonly problems: readonly Problem[] }
  /** The answer did not arrive, and is not known to have counted. It may be sent again. */
  | { readonly status: 'unsent'; readonly error: Error }
  /** Somebody else was faster, by `byMs` of the gateway's time. `given` is the answer that did not count. */
  | (Extract<Verdict, { status: 'lost' }> & { readonly given: Answer; readonly byMs: number })
  | { readonly status: 'answered'; readonly given: Answer }
  | { readonly status: 'complete' | 'error' }
  /** `given`: an answer that came too late, and was kept for operators. */
  | { readonly status: 'expired'; readonly given?: Answer }
  | { readonly status: 'cancelled'; readonly reason: string; readonly given?: Answer };

/** What components that show calls are given. `I` is the input of the tool, `R` its result. */
export interface CardProps<I = unknown, R = unknown> {
  readonly call: Card<I>;
  readonly state: CardState;
  answer(answer: CardAnswer<R>): Promise<Verdict>;
}

export type CardAnswer<R> = Exclude<Answer, { result: unknown }> | { readonly result: R };

export function toCard({ id, toolName, inputText, progress, message }: CardItem): Card {
  const { input, output } = message?.metadata ?? {};
  return {
    ...message?.call,
    callId: id,
    runId: message?.runId,
    spaceId: message?.spaceId,
    toolName,
    input,
    inputText,
    output,
    progress,
  };
}

/** What the gateway says of the call. `sent`: what came of an answer of ours, until the gateway's word is here. */
export function toCardState({ message, cancelled }: CardItem, sent: CardState | undefined): CardState {
  if (cancelled !== undefined) return { status: 'cancelled', reason: cancelled };
  if (message === undefined) return { status: 'writing' };
  if (sent?.status === 'lost') return sent;
  if (message.status === 'requires_action') return sent ?? { status: 'waiting' };
  const late = sent?.status === 'expired' || sent?.status === 'cancelled' ? { given: sent.given } : {};
  return { ...ended(message), ...late } as CardState;
}

function ended({ status, metadata }: Message): CardState {
  if (status === 'running' || status === 'complete' || status === 'error' || status === 'expired') return { status };
  const { denied } = (metadata.output ?? {}) as { denied?: unknown };
  return { status: 'cancelled', reason: typeof denied === 'string' ? denied : '' };
}
