import { createContext, type ReactElement, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import { SignInPage } from '../pages/sign-in/sign-in-page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { readSession, type Session, signIn } from './session-api.ts';

interface SignedIn {
  readonly session: Session;
  setSession(session: Session | undefined): void;
}

const Context = createContext<SignedIn | undefined>(undefined);

/** Shows its children to who is signed in, and the sign-in page to everybody else: at the address that they wanted. */
export function RequireSession({ children }: { children: ReactNode }): ReactElement | null {
  const [state, setState] = useState<{ session?: Session | undefined; error?: unknown } | undefined>();
  const load = useCallback(() => {
    firstSession().then(
      (session) => setState({ session }),
      (error: unknown) => setState({ error }),
    );
  }, []);
  useEffect(load, [load]);
  const setSession = useCallback((session: Session | undefined) => setState({ session }), []);
  if (state === undefined) return null;
  if (state.session === undefined) {
    const isRefused = state.error !== undefined;
    return (
      <SignInPage onSignedIn={setSession}>
        {isRefused && <ErrorNote error={state.error} title="The link did not sign you in." />}
      </SignInPage>
    );
  }
  return <Context value={{ session: state.session, setSession }}>{children}</Context>;
}

export function useSession(): SignedIn {
  const signedIn = useContext(Context);
  if (signedIn === undefined) throw new Error('useSession needs a RequireSession around it.');
  return signedIn;
}

/** True if whoever is signed in has the scope, or a higher one. */
export function useMay(scope: 'admin' | 'write' | 'read'): boolean {
  const { scopes } = useSession().session;
  return RANK.slice(RANK.indexOf(scope)).some((one) => scopes.includes(one));
}

const RANK = ['read', 'write', 'admin'] as const;

let first: Promise<Session | undefined> | undefined;

/** Once, however often React asks: in development it mounts everything twice, and a code counts once. */
function firstSession(): Promise<Session | undefined> {
  first ??= findSession();
  return first;
}

/** A link has its code in the fragment, which no server sees. It is wiped before anything else. */
async function findSession(): Promise<Session | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('in');
  if (code === null) return await readSession();
  history.replaceState(history.state, '', location.pathname + location.search);
  return await signIn({ code });
}
