import { ApiError } from '../../domain/api-error.ts';
import type { Revocations } from '../../domain/streams/revocations.ts';
import type { Services } from '../../ports/services.ts';
import type { Caller } from '../caller.ts';
import { watchCaller } from '../sse/stream-access.ts';
import { assertStillValid } from './authenticate.ts';

/** Waits for an answer no longer than the session of the caller lasts. Whatever the request began goes on. */
export async function whileSignedIn<T>(
  caller: Caller,
  answer: Promise<T> | T,
  { services, revocations }: { readonly services: Services; readonly revocations: Revocations },
): Promise<T> {
  if (caller.kind !== 'session' || !(answer instanceof Promise)) return await answer;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Whichever of them is not waited for any more.
  for (const one of [ended, answer]) one.catch(() => {});
  const unwatch = await watchCaller(revocations, caller, () => reject(sessionEnded()));
  try {
    await assertStillValid(services.store.db, caller);
    return await Promise.race([answer, ended]);
  } finally {
    unwatch();
  }
}

function sessionEnded(): ApiError {
  return new ApiError(401, 'unauthorized', 'The session has ended. Sign in again.');
}
