import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import type { McpCall, McpClient } from './open-client.ts';

/**
 * Calls a tool, and removes secrets from the questions that the server asks. A question is stored before the rest of
 * the gateway sees it. Its state is sent back to the server unchanged.
 */
export async function callWithoutSecrets(client: McpClient, call: McpCall, secrets: KnownSecrets): Promise<unknown> {
  const onAsk = (params: unknown) => call.onAsk(secrets.removeFromAll(params));
  const result = await client.call({ ...call, onAsk });
  const asked = (result ?? {}) as { readonly inputRequests?: unknown };
  return asked.inputRequests === undefined
    ? result
    : { ...asked, inputRequests: secrets.removeFromAll(asked.inputRequests) };
}
