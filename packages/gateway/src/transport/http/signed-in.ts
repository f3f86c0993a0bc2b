import { ApiError } from '../../domain/api-error.ts';
import type { Revocations } from '../../domain/streams/revocations.ts';
import type { Services } from '../../ports/services.ts';
import type { Caller } from '../caller.ts';
import { watchCaller } from '../sse/stream-access.ts';
import { assertStillValid } from './authenticate.ts';

/** Waits for an answer no longer than the session of the caller lasts. Whatever the request began goes on. */
export async function whileSignedIn(
  caller: Caller,
  answer: Promise<Response> | Response | undefined,
  { services, revocations }: { readonly services: Services; readonly revocations: Revocations },
): Promise<Response | undefined> {
  if (caller.kind !== 'session' || !(answer instanceof Promise)) return await answer;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Whichever of them is not waited for any more.
  for (const one of [ended, answer]) one.catch(() => {});
  const unwatch = await watchCaller(revocations, caller, () => reject(sessionEnded()));
  try {
    await assertStillValid(services.store.db, caller);
    return await Promise.race([answer, ended]);
  } catch (error) {
    // A stream that nobody reads would keep its place.
    void answer.then(({ body }) => body?.cancel()).catch(() => {});
    throw error;
  } finally {
    unwatch();
  }
}

function sessionEnded(): ApiError {
  return new ApiError(401, 'unauthorized', 'The session has ended. Sign in again.');
}
