import { assistantContent, messageShape, resultPart } from './message-shape.ts';
import {
  anything,
  count,
  type Flaw,
  flag,
  listOf,
  name,
  number,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
} from './shape.ts';

const usage: Shape = object(
  { inputTokens: count, outputTokens: count, totalTokens: count },
  { cachedTokens: count, reasoningTokens: count, estimated: oneOf(true) },
);

const requestedCall: Shape = object(
  { callId: name, toolName: text, input: text },
  { providerCallId: text, provided: object({ isError: flag }, { result: anything }) },
);

/** Values that JSON cannot hold were left out when it was stored, so a value, a result or an input may be missing. */
const settlementFields = { callId: name, toolName: text, startedAt: number, endedAt: number };
const optionalFields = { input: anything, terminal: oneOf(true) };

const pendingOutcome: Shape = object(
  { status: oneOf('pending'), kind: oneOf('result', 'approval', 'input'), text },
  { expiresAt: number, onExpiry: oneOf('report', 'fail'), display: anything },
);

const outcome: Shape = tagged('status', {
  ok: object({ text }, { value: anything, userText: text, content: listOf(resultPart) }),
  error: object({ code: text, message: text, text }),
  cancelled: object({ reason: text, text }),
  skipped: object({ reason: text, text }),
});

/** Any outcome, also of a call that waits. */
export const outcomeShape: Shape = (value) =>
  ((value as { status?: unknown }).status === 'pending' ? pendingOutcome : outcome)(value);

/** An answer has exactly one of these, as `assertAnswer` requires. */
const answer: Shape = (value) => {
  const flaw = object({}, { result: anything, error: text, approve: oneOf(true), deny: text })(value);
  if (flaw !== undefined) return flaw;
  const kinds = ['result', 'error', 'approve', 'deny'].filter((kind) => Object.hasOwn(value as object, kind));
  return kinds.length === 1 ? undefined : NO_ANSWER;
};
const NO_ANSWER: Flaw = {
  at: '',
  problem: 'must be { result }, { error: text }, { approve: true, input? } or { deny: reason }.',
};

const stop: Shape = tagged('reason', {
  end_turn: tagged('by', {
    text: object({}),
    terminal: object({ tool: text }),
    terminating: object({ tool: text }),
  }),
  transition: object({ tool: text, callId: name }, { value: anything }),
  budget: object({ dimension: oneOf('tokens', 'toolCalls', 'money') }),
  ...Object.fromEntries(
    ['suspended', 'max_steps', 'deadline', 'aborted', 'length', 'content_filter', 'max_invocations', 'max_nudges'].map(
      (reason) => [reason, object({})],
    ),
  ),
  error: object({}, { error: anything }),
});

const reply: Shape = object(
  {
    step: count,
    content: assistantContent,
    calls: listOf(requestedCall),
    text,
    finishReason: oneOf('stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'),
    usage,
  },
  { provider: text, model: text, startedAt: number, endedAt: number, attempts: count, systemAsUser: oneOf(true) },
);

/** One entry, by itself. Entries of a kind that a later version adds are skipped. */
export const entryShape: Shape = tagged(
  'kind',
  {
    turn: object({}),
    message: object({ message: messageShape }),
    reply,
    started: object({ callId: name }, { answer }),
    pending: object({ settlement: object({ ...settlementFields, outcome: pendingOutcome }, optionalFields) }),
    settled: object(
      { settlement: object({ ...settlementFields, outcome }, optionalFields) },
      {
        answer,
        slot: text,
        endsTurn: object({ response: text }, { output: anything }),
        late: oneOf(true),
        told: oneOf(true),
      },
    ),
    trimmed: object({ step: count, keep: listOf(name) }),
    nudge: object({ why: oneOf('no-call', 'length', 'last-word'), role: oneOf('system', 'user'), text }),
    checkpoint: object({}),
    compensating: object({ callId: name }),
    rewind: object({ callId: name, text, remaining: listOf(text) }),
    stop: object({ stop }),
  },
  object({ kind: text }),
);
