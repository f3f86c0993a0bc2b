import { ClientError } from '@lastcall/client';

/**
 * Kills the gateway of the demo. The client does not know this path, because no other gateway has it. No answer is the
 * expected result.
 */
export async function crashGateway(): Promise<void> {
  const response = await fetch('/api/demo/crash', { method: 'POST', credentials: 'same-origin' }).catch(
    () => undefined,
  );
  if (response === undefined || response.ok) return;
  throw new ClientError('refused', 'The gateway refused to crash itself.', { status: response.status });
}
