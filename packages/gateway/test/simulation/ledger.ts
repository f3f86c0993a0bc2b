/** The external view of a world: what people sent and got, what tools did, what clients read. Plain data, for the checks. */
export interface Ledger {
  readonly effects: { readonly toolName: string; readonly idempotencyKey: string; readonly ref: string }[];
  /** What people asked for in spaces, and by plans. */
  readonly asked: Asked[];
  /** Agents that were deleted, and the last message of their space at that moment. */
  readonly deleted: { readonly agentId: string; readonly spaceId: string; readonly lastSeq: number }[];
  /** Grants that were revoked, and how often they had been used at that moment. */
  readonly revoked: { readonly grantId: string; readonly uses: number }[];
  /** Answers to waiting calls, and their results. */
  readonly answered: { readonly callId: string; readonly answer: string; readonly told: string }[];
  /** Requests for turns of conversations. */
  readonly turns: Turn[];
  /** Events as published on the bus. */
  readonly published: { readonly stream: string; readonly seq: number; readonly type: string; readonly json: string }[];
  /** What each follower of a stream read, in order. */
  readonly followed: { readonly stream: string; readonly seqs: number[]; resets: number }[];
  /** Why a provider would refuse requests to a model. */
  readonly invalidPrompts: string[];
  /** Errors that no caller should get. */
  readonly refused: string[];
}

export interface Asked {
  readonly ref: string;
  readonly what: string;
  readonly agentId: string;
  readonly by: 'message' | 'plan';
  /** The ids in the responses, one for each time that the message was sent. */
  readonly told: string[];
  /** False if it may stay without an answer. */
  readonly isAnswered: boolean;
}

export interface Turn {
  readonly ref: string;
  /** The runs in the responses, one for each time that the request was sent. */
  readonly runs: string[];
  /** The answers that it read. */
  readonly responses: string[];
}

export function createLedger(): Ledger {
  return {
    effects: [],
    asked: [],
    deleted: [],
    revoked: [],
    answered: [],
    turns: [],
    published: [],
    followed: [],
    invalidPrompts: [],
    refused: [],
  };
}
