import { anything, fields, flag, listOf, must, object, type Shape, tagged, text } from './shape.ts';

const options = { providerOptions: fields };

/** A message that was stored has texts. One that a caller gives may have objects, which are stored as texts. */
const bytes: Shape = must('be a text', (value) => typeof value === 'string' || value instanceof Uint8Array);
const address: Shape = must('be a text', (value) => typeof value === 'string' || value instanceof URL);

const fileData: Shape = tagged('type', {
  data: object({ data: bytes }),
  url: object({ url: address }),
  reference: object({ reference: fields }),
  text: object({ text }),
});
const file: Shape = object({ mediaType: text, data: fileData }, { filename: text, ...options });

/** A part of a result that is not text. Tools of the AI SDK may return unknown kinds, which are passed on. */
export const resultPart: Shape = tagged(
  'type',
  { text: object({ text }, options), file },
  object({ type: text }, options),
);

const output: Shape = tagged('type', {
  text: object({ value: text }, options),
  json: object({}, options),
  'execution-denied': object({}, { reason: text, ...options }),
  'error-text': object({ value: text }, options),
  'error-json': object({}, options),
  content: object({ value: listOf(resultPart) }),
});

const textPart: Shape = object({ text }, options);
// An id may be missing for a call that the provider ran itself; for any other it must match its result, which is
// checked separately.
const toolCall: Shape = object(
  { toolName: text },
  { toolCallId: text, input: anything, providerExecuted: flag, ...options },
);
const toolResult: Shape = object({ toolName: text, output }, { toolCallId: text, ...options });

/** A model's reply, as it is sent back to the model. */
export const assistantContent: Shape = listOf(
  tagged('type', {
    text: textPart,
    reasoning: textPart,
    'reasoning-file': file,
    file,
    custom: object({ kind: text }, options),
    'tool-call': toolCall,
    'tool-result': toolResult,
  }),
);

const userContent: Shape = listOf(tagged('type', { text: textPart, file }));
const toolContent: Shape = listOf(
  tagged('type', {
    'tool-result': toolResult,
    'tool-approval-response': object({ approvalId: text, approved: flag }, { reason: text, ...options }),
  }),
);

/** A message in the provider interface's form. */
export const messageShape: Shape = tagged('role', {
  system: object({ content: text }, options),
  user: object({ content: userContent }, options),
  assistant: object({ content: assistantContent }, options),
  tool: object({ content: toolContent }, options),
});
