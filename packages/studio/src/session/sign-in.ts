import { createClient, type Session } from '@lastcall/client';

/** One try: a person waits for the answer, and is told to wait themselves. */
const oneTry = createClient({ auth: 'session', attempts: 1 });

export async function signIn(proof: { readonly code: string } | { readonly key: string }): Promise<Session> {
  return await oneTry.session.signIn(proof);
}
