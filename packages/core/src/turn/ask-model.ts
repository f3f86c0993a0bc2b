import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { CallLimit } from '../dispatch/call-limit.ts';
import type { ModelRequest } from '../middleware/middleware.ts';
import type { ReplyEntry } from './entry.ts';
import { userMessage } from './message.ts';
import { StreamReader } from './read-stream.ts';
import { type ModelReply, toReplyEntry } from './reply.ts';
import { DEFAULT_RETRIES, isRetryable, waitMs } from './retry-policy.ts';
import type { StepTools } from './step-tools.ts';
import { record, type Turn } from './turn.ts';
import { readUsage } from './usage.ts';

/** The model's next reply, written down; or undefined where a limit came first. Throws what retries did not cure. */
export async function askModel(turn: Turn, step: StepTools, limit: CallLimit): Promise<ReplyEntry | undefined> {
  const number = turn.progress.steps + 1;
  const ask = (request: ModelRequest): Promise<ModelReply> => askWithRetries(turn, request, number, limit);
  const wrapped = (turn.options.middleware ?? []).reduceRight<(request: ModelRequest) => Promise<ModelReply>>(
    (next, middleware) => async (request) =>
      middleware.model === undefined
        ? next(request)
        : middleware.model((changed = request) => next(changed), request, { step: number }),
    ask,
  );
  const reply = await limit.race(wrapped(toRequest(turn, step, limit)));
  if (limit.isHit(reply)) return undefined;
  const entry = toReplyEntry(reply, number, turn.newId);
  turn.budget?.add('tokens', entry.usage.totalTokens);
  await record(turn, entry);
  return entry;
}

function toRequest(turn: Turn, step: StepTools, limit: CallLimit): ModelRequest {
  const view = turn.systemAsUser ? turn.transcript.view().map(asUser) : turn.transcript.view();
  const observed = turn.options.observe?.();
  if (observed !== undefined && observed !== '') view.push(userMessage(observed));
  if (step.system !== '') view.unshift({ role: 'system', content: step.system });
  return {
    ...turn.options.modelSettings,
    prompt: view,
    ...(step.advertised.length === 0
      ? {}
      : { tools: step.advertised as NonNullable<LanguageModelV4CallOptions['tools']> }),
    abortSignal: limit.signal,
  };
}

function asUser(message: LanguageModelV4Message): LanguageModelV4Message {
  return message.role === 'system' ? userMessage(message.content) : message;
}

async function askWithRetries(turn: Turn, request: ModelRequest, step: number, limit: CallLimit): Promise<ModelReply> {
  const { modelRetries = DEFAULT_RETRIES } = turn.options;
  let current = request;
  for (let attempt = 1; ; attempt++) {
    try {
      turn.emit?.({ type: 'step.start', step, attempt });
      return await askOnce(turn, current, step);
    } catch (error) {
      if (limit.hit !== undefined) throw error;
      if (!turn.systemAsUser && refusesSystem(error, current)) {
        turn.systemAsUser = true;
        current = { ...current, prompt: [...current.prompt.slice(0, 1), ...current.prompt.slice(1).map(asUser)] };
        continue;
      }
      if (attempt > modelRetries || !isRetryable(error)) throw error;
      await turn.clock.sleep(waitMs(error, attempt, turn.clock), limit.signal);
    }
  }
}

async function askOnce(turn: Turn, request: ModelRequest, step: number): Promise<ModelReply> {
  if (turn.emit === undefined) {
    const { content, finishReason, usage } = await turn.model.doGenerate(request);
    return { content, finishReason, usage: readUsage(usage) };
  }
  const { stream } = await turn.model.doStream(request);
  const reader = new StreamReader({ step, emit: turn.emit, newId: turn.newId });
  for await (const part of stream as AsyncIterable<Parameters<StreamReader['read']>[0]>) {
    reader.read(part);
    const waiting = turn.ready?.();
    if (waiting !== undefined) await waiting;
  }
  return reader.reply();
}

/** Some providers take no system message after the first: a nudge then goes as a user message. */
function refusesSystem(error: unknown, request: ModelRequest): boolean {
  if (!request.prompt.slice(1).some(({ role }) => role === 'system')) return false;
  const { name, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as {
    name?: unknown;
    statusCode?: unknown;
  };
  return statusCode === 400 || name === 'AI_UnsupportedFunctionalityError' || name === 'AI_InvalidPromptError';
}
