import { ApiError } from '../../domain/api-error.ts';
import type { RunAnswer } from '../../domain/contexts/run-answer.ts';
import { awaitRun } from '../../runtime/chat/await-run.ts';
import { isStillValid } from '../caller.ts';
import { openStreamAccess } from '../sse/stream-access.ts';
import type { Exchange } from './endpoint.ts';
import type { StreamOptions } from './open-stream.ts';

/**
 * What came of a run, for whoever still may know it: a key that is revoked meanwhile ends the wait, and gets 403. Undefined: the client
 * went away. The run goes on in both cases.
 */
export async function awaitAnswer(
  runId: string,
  { request: { signal: left }, caller }: Exchange,
  { services, revocations }: Pick<StreamOptions, 'services' | 'revocations'>,
): Promise<RunAnswer | undefined> {
  const { store } = services;
  const access = await openStreamAccess({ store, revocations, caller, assertAllowed: async () => {} });
  try {
    // A key that was revoked before revocations were heard, or on another gateway whose notice is late, is found by asking.
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

/** Not 401: clients send a request again after that, with another token, and have it done twice. */
function accessEnded(runId: string): ApiError {
  return new ApiError(
    403,
    'access_ended',
    `The key was revoked, the session has ended, or the token has expired, before the run ended. Run ${runId} goes on: do not send the request again. With a valid key, GET /api/runs/${runId} has the result.`,
    { details: { run_id: runId } },
  );
}

/** Nobody reads it: it is for our own counts. */
export function clientLeft(): Response {
  return new Response(null, { status: 499 });
}
