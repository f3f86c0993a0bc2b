import type { Egress } from '../../../ports/egress/egress.ts';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import { callFailure } from './call-failure.ts';
import type { McpAddress, McpClient, OpenOptions } from './open-client.ts';

/** How a server is reached. */
export interface ServerAccess {
  /** Throws if a secret is missing. */
  address(): Promise<McpAddress>;
  /** The page where a person has to authorise the gateway first. */
  authorizationUrl(): Promise<string | undefined>;
  readonly egress: Egress;
  readonly secrets: KnownSecrets;
}

const MUST_BE_AUTHORIZED =
  'The gateway must be authorised: open authorizationUrl of GET /api/mcp/servers in a browser.';

/** Another attempt would request another authorization, while a person may be about to give the first one. */
export async function assertAuthorized({ authorizationUrl }: ServerAccess): Promise<void> {
  if ((await authorizationUrl()) !== undefined) throw new Error(MUST_BE_AUTHORIZED);
}

/** Connects, or throws once the time is over. */
export async function openInTime(
  { address, egress }: ServerAccess,
  { signal, timeoutMs, ...options }: Omit<OpenOptions, 'egress'>,
): Promise<McpClient> {
  const { openClient } = await import('./open-client.ts');
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await openClient(await address(), {
      ...options,
      egress,
      timeoutMs,
      signal: AbortSignal.any([signal, late]),
    });
  } catch (error) {
    if (!late.aborted) throw error;
    throw new Error(`It did not answer within ${timeoutMs} ms.`, { cause: error });
  }
}

/** Why a connection could not be made, or was lost, for operators. */
export async function explainFailure(
  { authorizationUrl, secrets }: ServerAccess,
  error: unknown,
): Promise<{ readonly problem: string; readonly authorizationUrl: string | undefined }> {
  const url = await authorizationUrl().catch(() => undefined);
  const problem = url === undefined ? secrets.removeFrom(callFailure(error).message) : MUST_BE_AUTHORIZED;
  return { problem, authorizationUrl: url };
}
