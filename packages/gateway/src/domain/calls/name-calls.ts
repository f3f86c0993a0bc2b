import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { nameOfCall, shortCall } from './call-number.ts';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

/**
 * The part with short names in place of our call ids, in the sentences in which core and the gateway name a call. In all other texts an id
 * stays, because a tool may have given it to the model to be passed on.
 */
export function nameCalls(part: Part): Part {
  switch (part.type) {
    case 'text': {
      const text = part.text.startsWith(ANSWER) ? part.text.replace(ANSWERED, named) : part.text;
      return text === part.text ? part : { ...part, text };
    }
    case 'tool-result': {
      const { output } = part;
      if (output.type !== 'text' && output.type !== 'error-text') return part;
      const value = nameInResult(output.value);
      return value === output.value ? part : { ...part, output: { ...output, value } };
    }
    default:
      return part;
  }
}

/** Most results name no call. */
function nameInResult(text: string): string {
  if (text.startsWith(PENDING)) return pendingInWords(text) ?? text;
  if (text.startsWith('"')) return text.replace(WAITED, named);
  if (text.startsWith('[output kept as ')) return text.replace(KEPT, named);
  return text.endsWith(' to read on]') ? text.replace(CUT, named) : text;
}

// See run-tools.ts, asking-call.ts, sub-agent-wait.ts, output-reference.ts and cut-output.ts.
const PENDING = '{"status":"pending","pendingToolCallId":';
const KEPT = /^(\[output kept as )([0-9a-f-]{36})(?= \(\d+ characters\): use read_output)/;
const CUT = /( The full output is stored as )([0-9a-f-]{36})(?=: use read_output with offset \d+ to read on\]$)/;

function pendingInWords(text: string): string | undefined {
  try {
    const { pendingToolCallId: callId, note } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return typeof callId === 'string' && typeof note === 'string'
      ? `Pending as ${shortCall(callId)}. ${note}`
      : undefined;
  } catch {
    return undefined;
  }
}

// See late-answer.ts and provisional-text.ts in core.
const ANSWER = 'The answer to call ';
const ANSWERED = /^(The answer to call )([0-9a-f-]{36})(?= \()/;
// The second form is that of transcripts of earlier versions: their answers name the call by its short name too.
const WAITED =
  /^("[\w-]{1,64}" (?:became pending as call |was (?:pending|waiting for approval) when this was written \(call ))([0-9a-f-]{36})(?=[.,] |\)\. )/;

function named(_found: string, before: string, callId: string): string {
  return `${before}${before.endsWith('call ') ? nameOfCall(callId) : shortCall(callId)}`;
}
