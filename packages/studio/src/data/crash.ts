import { ClientError } from '@lastcall/client';
import { client } from './client.ts';

/** Kills the gateway of the demo. No answer is the expected result. */
export async function crashGateway(): Promise<void> {
  await client.request('POST /api/demo/crash').catch((error: unknown) => {
    if (!(error instanceof ClientError) || error.status === undefined) return;
    throw new ClientError('refused', 'The gateway refused to crash itself.', { status: error.status });
  });
}
