import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { Middleware } from '../contract/middleware.ts';
import type { ModelRequest } from '../contract/middleware-for.ts';
import type { CallLimit } from '../dispatch/call-limit.ts';
import type { ModelReply } from '../model/model-reply.ts';
import { DEFAULT_RETRIES, isRetryable, waitMs } from '../model/retry-policy.ts';
import { readUsage } from '../model/usage.ts';
import { isBrokenOff, isWritten, noteBrokenOff } from './broken-off.ts';
import { StreamReader } from './read-stream.ts';
import { record } from './record.ts';
import { type ReadReply, readReply } from './reply.ts';
import type { StepTools } from './step-tools.ts';
import { laterAsUser, startOf, toPrompt } from './to-prompt.ts';
import type { Turn } from './turn.ts';

/** What a request offers. Without `mayCall` the tools are listed but none may be called. */
export type Offered = Pick<StepTools, 'system' | 'advertised'> & { readonly mayCall?: boolean };

/** The model's next reply, recorded; or undefined if a limit came first. Throws an error that retries did not fix. */
export function askModel(turn: Turn, step: Offered, limit: CallLimit): Promise<ReadReply | undefined> {
  if (limit.hit !== undefined) return Promise.resolve(undefined);
  const asked: Asked = { step: turn.progress.steps + 1, startedAt: turn.clock.now(), attempts: 0 };
  const asking = limit.race(askWithMiddleware(turn, toRequest(turn, step, limit), asked, limit));
  return asking.then((reply) => (limit.isHit(reply) ? undefined : writeReply(turn, reply, asked)));
}

interface Asked {
  readonly step: number;
  readonly startedAt: number;
  /** How often the model was asked, also by a middleware that asks again. */
  attempts: number;
}

function writeReply(turn: Turn, reply: ModelReply, asked: Asked): ReadReply | Promise<ReadReply> {
  const { provider, modelId: model } = turn.model;
  const { step, startedAt } = asked;
  const { newId, systemAsUser } = turn;
  const attempts = Math.max(asked.attempts, reply.attempts ?? 1);
  const endedAt = turn.clock.now();
  const read = readReply({ ...reply, attempts }, { newId, step, provider, model, startedAt, endedAt, systemAsUser });
  turn.budget?.add('tokens', read.entry.usage.totalTokens);
  const writing = record(turn, read.entry);
  return writing === undefined ? read : writing.then(() => read);
}

function askWithMiddleware(turn: Turn, request: ModelRequest, asked: Asked, limit: CallLimit): Promise<ModelReply> {
  const { step } = asked;
  const list = turn.options.middleware?.filter(wrapsModel);
  if (list === undefined || list.length === 0) return askWithRetries(turn, request, asked, limit);
  const wrapped = list.reduceRight<(request: ModelRequest) => Promise<ModelReply>>(
    (next, middleware) => async (given) =>
      middleware.model((changed = given) => next(changed), given, { step, model: turn.model }),
    (given) => askWithRetries(turn, given, asked, limit),
  );
  return wrapped(request);
}

type ModelMiddleware = Middleware & Required<Pick<Middleware, 'model'>>;

function wrapsModel(middleware: Middleware): middleware is ModelMiddleware {
  return middleware.model !== undefined;
}

function toRequest(turn: Turn, step: Offered, limit: CallLimit): ModelRequest {
  const view = turn.transcript.shownTo(turn.model.provider);
  const { systemAsUser } = turn;
  const request: ModelRequest = {
    ...turn.options.modelSettings,
    prompt: toPrompt(view, { system: step.system, observed: observe(turn), systemAsUser }),
    abortSignal: limit.signal,
  };
  if (step.advertised.length > 0) {
    request.tools = step.advertised as NonNullable<LanguageModelV4CallOptions['tools']>;
    if (step.mayCall === false) request.toolChoice = { type: 'none' };
  }
  return request;
}

/** If observe throws, the model is asked without it: the turn does not end because of it. */
function observe({ options, logger }: Turn): string {
  try {
    return options.observe?.() ?? '';
  } catch (error) {
    logger.error('observe threw. The model is asked without it.', error);
    return '';
  }
}

async function askWithRetries(turn: Turn, request: ModelRequest, asked: Asked, limit: CallLimit): Promise<ModelReply> {
  const { step } = asked;
  const { modelRetries = DEFAULT_RETRIES } = turn.options;
  let current = request;
  let retries = 0;
  let brokenOff = 0;
  for (let attempt = 1; ; attempt++) {
    const progress = { hasWritten: false };
    try {
      asked.attempts++;
      turn.emit?.({ type: 'step.start', step, attempt: asked.attempts });
      const reply =
        turn.emit === undefined
          ? toModelReply(await turn.model.doGenerate(current))
          : await streamReply(turn, turn.emit, { request: current, step, limit, progress });
      if (attempt === 1) return reply;
      return { ...reply, attempts: attempt, ...(brokenOff === 0 ? {} : { brokenOff }) };
    } catch (error) {
      if (isBrokenOff(error, progress.hasWritten)) brokenOff++;
      noteBrokenOff(error, brokenOff);
      if (limit.hit !== undefined) throw error;
      if (!turn.systemAsUser && refusesSystem(error, current)) {
        turn.systemAsUser = true;
        current = { ...current, prompt: laterAsUser(current.prompt) };
        continue;
      }
      if (++retries > modelRetries || !isRetryable(error)) throw error;
      await turn.clock.sleep(waitMs(error, retries, turn.clock), limit.signal);
      // The wait may have been cut short, and then the reply is not needed any more.
      if (limit.hit !== undefined) throw error;
    }
  }
}

function toModelReply({ content, finishReason, usage, warnings = [] }: LanguageModelV4GenerateResult): ModelReply {
  const reply = { content, finishReason, usage: readUsage(usage) };
  return warnings.length === 0 ? reply : { ...reply, warnings };
}

interface StreamedRequest {
  readonly request: ModelRequest;
  readonly step: number;
  readonly limit: CallLimit;
  /** Set while the reply is read. */
  readonly progress: { hasWritten: boolean };
}

async function streamReply(
  turn: Turn,
  emit: NonNullable<Turn['emit']>,
  { request, step, limit, progress }: StreamedRequest,
): Promise<ModelReply> {
  const { stream } = await turn.model.doStream(request);
  const reader = new StreamReader({ step, emit, newId: turn.newId });
  // Uses a reader, because iterating a stream costs twice as much.
  const parts = stream.getReader();
  let isLeft = true;
  try {
    for (let next = await parts.read(); !next.done; next = await parts.read()) {
      // A provider that ignores its signal is abandoned here, and the stream is cancelled.
      if (limit.hit !== undefined) return reader.reply();
      progress.hasWritten ||= isWritten(next.value);
      reader.read(next.value);
      const waiting = turn.ready?.();
      if (waiting !== undefined) await waiting;
    }
    isLeft = false;
  } finally {
    if (isLeft) await parts.cancel().catch(() => {});
  }
  return reader.reply();
}

/** Some providers accept no system message after the first: a nudge is then sent as a user message. */
function refusesSystem(error: unknown, request: ModelRequest): boolean {
  if (!request.prompt.slice(startOf(request.prompt)).some(({ role }) => role === 'system')) return false;
  const { name, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as {
    name?: unknown;
    statusCode?: unknown;
  };
  return statusCode === 400 || name === 'AI_UnsupportedFunctionalityError' || name === 'AI_InvalidPromptError';
}
