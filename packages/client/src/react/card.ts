import { type CallStatus, statusOfCard } from '../timeline/call-status.ts';
import type { Problem, Verdict } from '../verdict.ts';
import type { Answer, CardCall, Message } from '../wire.generated.ts';
import type { CardItem } from './space-view.ts';

/** A call, as passed to the component that shows it. */
export interface Card<I = unknown> extends Partial<CardCall> {
  readonly callId: string;
  readonly runId: string | undefined;
  readonly spaceId: string | undefined;
  readonly toolName: string;
  /** How the call stands, in one word. */
  readonly callStatus: CallStatus;
  /** Undefined while the model writes it; `inputText` then holds what has arrived so far. */
  readonly input: I | undefined;
  readonly inputText: string;
  readonly output: unknown;
  readonly progress: unknown;
}

export type CardState =
  /** The model is writing the input. */
  | { readonly status: 'writing' }
  | { readonly status: 'running' }
  | { readonly status: 'waiting' }
  /** The answer is being sent. The client retries until the gateway confirms it. */
  | { readonly status: 'sending'; readonly given: Answer }
  /** The gateway refused the answer; `problems` say what was wrong and where. The user may answer again. */
  | { readonly status: 'refused'; readonly problems: readonly Problem[] }
  /** The client does not know whether the answer arrived. The user may send it again. */
  | { readonly status: 'unsent'; readonly error: Error }
  /** Another user answered first, by `byMs` of the gateway's time. `given` is the answer that did not count. */
  | (Extract<Verdict, { status: 'lost' }> & { readonly given: Answer; readonly byMs: number })
  | { readonly status: 'answered'; readonly given: Answer }
  | { readonly status: 'complete' | 'error' }
  /** `given` is an answer that came too late. It is kept for operators. */
  | { readonly status: 'expired'; readonly given?: Answer }
  | { readonly status: 'cancelled'; readonly reason: string; readonly given?: Answer };

/** The props of components that show calls. `I` is the input of the tool, `R` its result. */
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
    callStatus: message === undefined ? 'running' : statusOfCard(message),
    input,
    inputText,
    output,
    progress,
  };
}

/**
 * The state of the call according to the gateway. `sent` is the state of our own answer until the gateway reports it.
 */
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
