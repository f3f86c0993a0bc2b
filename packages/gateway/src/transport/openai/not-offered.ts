/** What a client of OpenAI can do instead of a request that the gateway does not have. */
export function insteadOf(method: string, path: string): string {
  const found = INSTEAD.find(([of, pattern]) => (of === undefined || of === method) && pattern.test(path));
  return found?.[2] ?? 'Of the API of OpenAI, the gateway has /v1/models, /v1/chat/completions and /v1/responses.';
}

const INSTEAD: readonly (readonly [method: string | undefined, path: RegExp, instead: string])[] = [
  [
    'DELETE',
    /^\/v1\/responses\/[^/]+$/,
    'A response is deleted together with its conversation: DELETE /contexts/{context_id}, with a secret key and the context_id of the response.',
  ],
  [
    undefined,
    /^\/v1\/responses\/[^/]+\/input_items$/,
    'GET /contexts/{context_id}, with the context_id of the response, has all messages of its conversation.',
  ],
  [
    undefined,
    /^\/v1\/conversations(\/|$)/,
    'POST /v1/responses begins a conversation, and continues it if you send the id in its field conversation. GET /contexts/{context_id}, with the context_id of a response, has the messages; DELETE, with a secret key, deletes it.',
  ],
];
