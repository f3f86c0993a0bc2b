import { createClient, type Session } from '@lastcall/client';

/** One attempt: the user waits for the answer, and is asked to wait before the next one. */
const oneTry = createClient({ auth: 'session', attempts: 1 });

export async function signIn(proof: { readonly code: string } | { readonly key: string }): Promise<Session> {
  return await oneTry.session.signIn(proof);
}
