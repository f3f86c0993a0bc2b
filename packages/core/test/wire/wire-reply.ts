/** A tool call of a scripted reply. */
export interface WireCall {
  /** As the provider names it. */
  readonly id: string;
  readonly name: string;
  /** The text the model writes, which may be no JSON at all. */
  readonly arguments: string;
  /** A thought signature on the call, where the format has one. */
  readonly signature?: string;
}

/** What the model says in one reply, and what goes wrong on the way. */
export interface WireMessage {
  readonly reasoning?: { readonly text: string; readonly signature?: string };
  /** Reasoning that only the provider can read. */
  readonly redacted?: string;
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly finish?: 'length';
  /** Events and chunks that no client has heard of, among the others. */
  readonly unknown?: true;
  /** The calls are there, in a form that no client can read. */
  readonly unreadableCalls?: true;
  /** Half-way the response ends: as if it were done, by a broken connection, or by an error told in the stream. */
  readonly cut?: 'end' | 'reset' | 'error';
  /** Half-way nothing more comes, until the client hangs up. */
  readonly hold?: true;
}

/** A refusal before any reply. */
interface WireFailure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export type WireReply = WireMessage | WireFailure;

/** One wire format: what it refuses, and how a reply looks in it. */
export interface WireFormat {
  readonly path: string;
  /** What is wrong with a request by the API's own rules; undefined where it is accepted. */
  problemOf(body: never, headers: Readonly<Record<string, unknown>>): string | undefined;
  /** A reply as one body. */
  toBody(reply: WireMessage): unknown;
  /** A reply as server-sent events, in order. */
  toEvents(reply: WireMessage): readonly string[];
  /** An error told in the middle of a stream, one that passes by itself. */
  readonly streamError: string;
  toError(message: string): unknown;
}

/** A text as a model streams it. */
export function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,5}/g) ?? [];
}
