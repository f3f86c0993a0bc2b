import { fail, type PendingResult, pending, type ToolContext } from '@lastcall/core';
import { parseJson } from '@lastcall/core/internal';
import type { Called } from './mcp-connection.ts';
import { type InputRequests, type InputResponse, readQuestion, toResponses } from './mcp-question.ts';
import type { McpCall, McpResume } from './open-client.ts';
import type { People } from './people.ts';

/** The parts of a call with which its server can ask. */
type Asking = Pick<McpCall, 'signal' | 'onAsk' | 'resume'>;

/** What is stored with a question until it is answered. */
interface State {
  readonly keys: readonly string[];
  readonly requestState?: string | undefined;
}

/** A server may ask to be called again without a question to a person, but not endlessly. */
const MOST_ROUNDS = 10;

/**
 * Makes a call whose server may ask for input. A server of 2026 ends the call with its question, and is called again
 * with the answer, by any gateway. A server of 2025 asks while the call is open.
 */
export async function askingCall(
  call: (asking: Asking) => Promise<Called>,
  people: People,
  ctx: ToolContext,
): Promise<Called | { readonly asks: PendingResult | ReturnType<typeof fail> }> {
  const state = ctx.answer === undefined ? undefined : await people.stateOf(ctx);
  if (ctx.answer !== undefined && state === undefined) return { asks: fail(STATE_LOST) };
  let resume = state === undefined ? undefined : resumeWith(parseJson(state) as State, ctx);
  for (let round = 1; ; round++) {
    const called = await callOpen(call, { people, ctx, resume });
    const asked = 'result' in called ? inputRequired(called.result) : undefined;
    if (asked === undefined) return called;
    if (asked.requests === undefined && round < MOST_ROUNDS) resume = { requestState: asked.requestState };
    else return { asks: await ask(asked, people, ctx) };
  }
}

const STATE_LOST =
  'The question was answered, but the state that the server needs to continue cannot be read: it was erased, or stored with another encryption key. Call the tool again.';

/** While the call is open, its server may ask. When the call ends, for any reason, open questions are withdrawn. */
async function callOpen(
  call: (asking: Asking) => Promise<Called>,
  { people, ctx, resume }: { people: People; ctx: ToolContext; resume: McpResume | undefined },
): Promise<Called> {
  const ended = new AbortController();
  const onAsk = async (params: unknown): Promise<InputResponse> => {
    const question = readQuestion({ question: { method: 'elicitation/create', params } });
    if ('problem' in question) return { action: 'decline' };
    const answer = await people.askDuringCall(ctx, question, AbortSignal.any([ended.signal, ctx.abortSignal]));
    return toResponses(['question'], answer).question ?? { action: 'decline' };
  };
  try {
    return await call({ signal: ctx.abortSignal, onAsk, resume });
  } finally {
    ended.abort();
  }
}

function resumeWith({ keys, requestState }: State, { answer }: ToolContext): McpResume | undefined {
  if (answer === undefined) return undefined;
  return { inputResponses: toResponses(keys, answer), ...(requestState === undefined ? {} : { requestState }) };
}

interface InputRequired {
  /** Undefined if there is no question: the server asks to be called again. */
  readonly requests: InputRequests | undefined;
  readonly requestState?: string | undefined;
}

function inputRequired(result: unknown): InputRequired | undefined {
  const { resultType, inputRequests, requestState } = (result ?? {}) as Readonly<Record<string, unknown>>;
  if (resultType !== 'input_required') return undefined;
  const isAsked = typeof inputRequests === 'object' && inputRequests !== null && Object.keys(inputRequests).length > 0;
  return {
    requests: isAsked ? (inputRequests as InputRequests) : undefined,
    ...(typeof requestState === 'string' ? { requestState } : {}),
  };
}

async function ask(
  { requests = {}, requestState }: InputRequired,
  people: People,
  ctx: ToolContext,
): Promise<PendingResult | ReturnType<typeof fail>> {
  const question = Object.keys(requests).length === 0 ? { problem: 'it asks again and again' } : readQuestion(requests);
  if ('problem' in question)
    return fail(`The call failed, because the tool asks for something that it cannot get: ${question.problem}.`);
  const state: State = { keys: Object.keys(requests), requestState };
  await people.willAsk(ctx, question, JSON.stringify(state));
  const note = `The tool asks for input: ${question.text}\nIt was waiting for an answer when this was written. Its outcome comes later and names this call.`;
  const message = JSON.stringify({ status: 'pending', pendingToolCallId: ctx.toolCallId, note });
  return pending({ asks: true, display: { text: question.text }, message });
}
