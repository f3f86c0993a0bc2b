import { toJson } from '../../../ports/store/json.ts';

const encoder = new TextEncoder();

/** Frames without a name: a named one breaks the client's own reading of chat completions. */
export function dataFrames(data: readonly (object | '[DONE]')[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(data.map((one) => `data: ${typeof one === 'string' ? one : toJson(one)}\n\n`).join(''));
}

/** Frames named by the type of what they hold. */
export function namedFrames(events: readonly { readonly type: string }[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(events.map((one) => `event: ${one.type}\ndata: ${toJson(one)}\n\n`).join(''));
}
