import type { Outcome, Part } from '@lastcall/core';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { RunAnswer } from '../../domain/conversations/run-answer.ts';

export const RUN_ID = 'lastcall/runId';
const CONTEXT_ID = 'lastcall/contextId';

/** The outcome of a tool call as an MCP client receives it. The text is the same that a model would read. */
export function toolResult(outcome: Outcome | undefined, answer: RunAnswer): CallToolResult {
  if (outcome === undefined || outcome.status === 'pending') return withRun(failed(whyEnded(answer)), answer);
  if (outcome.status !== 'ok') return withRun(failed(outcome.text), answer);
  const parts = (outcome.content ?? []).map(toBlock);
  const isTextLeftOut = outcome.text === '' && parts.length > 0;
  return withRun({ content: [...(isTextLeftOut ? [] : [text(outcome.text)]), ...parts] }, answer);
}

/** The answer of an agent. */
export function agentResult(answer: RunAnswer): CallToolResult {
  const { status, stop, response, contextId, runId } = answer;
  const structuredContent = { response, context_id: contextId, run_id: runId };
  const isWhole = status === 'completed' && stop.reason === 'end_turn';
  const texts = isWhole ? [response] : [whyEnded(answer), ...(response === '' ? [] : [response])];
  const note = `To continue this conversation, pass context_id "${contextId}".`;
  return withRun(
    { content: [...texts, note].map(text), structuredContent, ...(isWhole ? {} : { isError: true }) },
    answer,
  );
}

export function failed(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

function withRun(result: CallToolResult, { runId, contextId }: RunAnswer): CallToolResult {
  return { ...result, _meta: { [RUN_ID]: runId, [CONTEXT_ID]: contextId } };
}

function whyEnded({ runId, status, stop }: RunAnswer): string {
  if (status === 'cancelled') return `Run ${runId} was cancelled.`;
  if (stop.reason === 'error') {
    const { error } = stop as { readonly error?: unknown };
    return `Run ${runId} failed: ${typeof error === 'string' ? error : describe(error)}`;
  }
  return `Run ${runId} ended early: ${stop.reason}.`;
}

function describe(error: unknown): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : 'unknown error';
}

function text(content: string): ContentBlock {
  return { type: 'text', text: content };
}

/** Images and sounds are sent as such, other files as resources. */
function toBlock(part: Part): ContentBlock {
  if (part.type === 'text') return text(part.text);
  if (part.type !== 'file') return text(`[content of type ${part.type}]`);
  const { data, mediaType: mimeType, filename = 'file' } = part;
  if (data.type === 'url') return { type: 'resource_link', uri: data.url.toString(), name: filename, mimeType };
  const uri = `lastcall://output/${encodeURIComponent(filename)}`;
  if (data.type === 'text') return { type: 'resource', resource: { uri, mimeType, text: data.text } };
  if (data.type !== 'data') return text(`[a file of type ${mimeType}]`);
  const base64 = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  if (mimeType.startsWith('image/')) return { type: 'image', data: base64, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data: base64, mimeType };
  return { type: 'resource', resource: { uri, mimeType, blob: base64 } };
}
