/** A tool call of a scripted reply. */
export interface WireCall {
  /** The id that the provider gives it. */
  readonly id: string;
  readonly name: string;
  /** The text that the model writes, which may be invalid JSON. */
  readonly arguments: string;
  /** A thought signature on the call, where the format has one. */
  readonly signature?: string;
}

/** The content of one reply, and the errors during the response. */
export interface WireMessage {
  readonly reasoning?: { readonly text: string; readonly signature?: string };
  /** Reasoning that only the provider can read. */
  readonly redacted?: string;
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly finish?: 'length';
  /** Adds events and chunks that no client knows. */
  readonly unknown?: true;
  /** Sends the calls in a form that no client can read. */
  readonly unreadableCalls?: true;
  /** The response ends half-way: normally, by a broken connection, or by an error in the stream. */
  readonly cut?: 'end' | 'reset' | 'error';
  /** Half-way nothing more is sent until the client disconnects. */
  readonly hold?: true;
}

/** A refusal before any reply. */
interface WireFailure {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export type WireReply = WireMessage | WireFailure;

/** One wire format: which requests it refuses, and how it writes a reply. */
export interface WireFormat {
  readonly path: string;
  /** Why the API would refuse a request; undefined if it is accepted. */
  problemOf(body: never, headers: Readonly<Record<string, unknown>>): string | undefined;
  /** A reply as one body. */
  toBody(reply: WireMessage): unknown;
  /** A reply as server-sent events, in order. */
  toEvents(reply: WireMessage): readonly string[];
  /** A temporary error in the middle of a stream. */
  readonly streamError: string;
  toError(message: string): unknown;
}

/** A text as a model streams it. */
export function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,5}/g) ?? [];
}
