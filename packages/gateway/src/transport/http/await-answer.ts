import { ApiError } from '../../domain/api-error.ts';
import type { RunAnswer } from '../../domain/conversations/run-answer.ts';
import { awaitRun } from '../../runtime/chat/await-run.ts';
import { isStillValid } from '../caller.ts';
import { openStreamAccess } from '../sse/stream-access.ts';
import type { Exchange } from './endpoint.ts';
import type { StreamOptions } from './open-stream.ts';

/**
 * Waits for the outcome of a run. If the key is revoked meanwhile, the wait ends with 403. Returns undefined if the client
 * disconnected. The run continues in both cases.
 */
export async function awaitAnswer(
  runId: string,
  { request: { signal: left }, caller }: Exchange,
  { services, revocations }: Pick<StreamOptions, 'services' | 'revocations'>,
): Promise<RunAnswer | undefined> {
  const { store } = services;
  const access = await openStreamAccess({ store, revocations, caller, assertAllowed: async () => {} });
  try {
    // A key that was revoked before the watch began, or on another gateway whose notice is late, is found by this query.
    const assertValid = async (): Promise<void> => {
      if (!(await isStillValid(store.db, caller))) throw accessEnded(runId);
    };
    await assertValid();
    const signals = [left, access.ended];
    const answer = await awaitRun(services, runId, { signals }).catch((error: unknown) => {
      if (!signals.some(({ aborted }) => aborted)) throw error;
    });
    if (left.aborted) return undefined;
    if (answer === undefined) throw accessEnded(runId);
    await assertValid();
    return answer;
  } finally {
    access.close();
  }
}

/** The status is not 401, because clients repeat such a request with another token, and it would be done twice. */
function accessEnded(runId: string): ApiError {
  return new ApiError(
    'access_ended',
    `The key was revoked, the session has ended, or the token has expired, before the run ended. Run ${runId} continues: do not send the request again. With a valid key, GET /api/runs/${runId} returns the result.`,
    { details: { run_id: runId } },
  );
}

/** The response for a client that has disconnected. Only our own metrics see its status. */
export function clientLeft(): Response {
  return new Response(null, { status: 499 });
}
