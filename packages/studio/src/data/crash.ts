import { ClientError } from '@lastcall/client';
import { client } from './client.ts';

/** Kills the gateway of the demo. That no answer comes is what was asked for. */
export async function crashGateway(): Promise<void> {
  await client.request('POST /api/demo/crash').catch((error: unknown) => {
    if (!(error instanceof ClientError) || error.status === undefined) return;
    throw new ClientError('refused', 'The gateway did not let itself be crashed.', { status: error.status });
  });
}
