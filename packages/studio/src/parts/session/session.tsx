import { ClientError, type Session } from '@lastcall/client';
import { useQueryClient } from '@tanstack/react-query';
import {
  type ComponentType,
  createContext,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { everywhere } from '../../data/client.ts';
import type { Answerer } from '../../data/pending.ts';
import { keepInTab } from '../../data/tab-storage.ts';
import { onSessionEnd } from './session-end.ts';
import { signIn } from './sign-in.ts';

interface SignedIn {
  readonly session: Session;
  setSession(session: Session | undefined): void;
}

const Context = createContext<SignedIn | undefined>(undefined);

export interface SignInPageProps {
  readonly onSignedIn: (session: Session) => void;
  /** Why a user sees this page unexpectedly. */
  readonly why?: 'ended' | 'signed out' | { readonly refused: unknown } | undefined;
}

/** Without a session no user is signed in. `why` is the reason, unless the user just had not signed in yet. */
type State = { readonly session: Session } | { readonly session: undefined; readonly why?: SignInPageProps['why'] };

interface RequireSessionProps {
  readonly signInPage: ComponentType<SignInPageProps>;
  /**
   * Called after a deliberate sign-out, here or in another tab, and before another person continues in this tab: removes what the next user
   * must not see.
   */
  readonly onSignOut: () => void;
  readonly children: ReactNode;
}

/** Shows its children to a signed-in user, and the sign-in page to others, at the address that they opened. */
export function RequireSession({
  signInPage: SignInPage,
  onSignOut,
  children,
}: RequireSessionProps): ReactElement | null {
  const [state, setState] = useState<State | undefined>();
  const [others, setOthers] = useState(0);
  const queries = useQueryClient();
  const start = useCallback(
    (next: State) => {
      if (rememberUser(next.session)) {
        queries.clear();
        onSignOut();
        // The fields of an open page would still show what the person before has typed.
        setOthers((count) => count + 1);
      }
      setState(next);
    },
    [queries, onSignOut],
  );
  useEffect(() => {
    first ??= firstSession();
    first.then(start, (refused: unknown) => setState({ session: undefined, why: { refused } }));
  }, [start]);
  const leave = useCallback(
    (why: 'ended' | 'signed out') => {
      // The next user must not see this user's data.
      queries.clear();
      // A user who was signed out by the gateway usually returns and wants to continue writing, so only a deliberate
      // sign-out removes drafts.
      if (why === 'signed out') onSignOut();
      setState({ session: undefined, why });
    },
    [queries, onSignOut],
  );
  useEffect(() => onSessionEnd(() => leave('ended')), [leave]);
  const shown = useRef<Session>(undefined);
  shown.current = state?.session;
  const show = useCallback(
    (session: Session) => {
      const before = shown.current;
      if (JSON.stringify(before) === JSON.stringify(session)) return;
      // Another session is another sign-in, perhaps in another tab of the browser.
      if (before?.id !== session.id) start({ session });
      // The same user acts as another person, and keeps the drafts.
      else setState({ session });
      // Another person may see other data.
      if (before?.entity?.id !== session.entity?.id) void queries.invalidateQueries();
    },
    [queries, start],
  );
  useEffect(
    () =>
      onSessionChange((why) => {
        // Without an answer nothing is known, so the current user stays signed in.
        void readSession().then(
          (session) => {
            if (session !== undefined) show(session);
            else if (shown.current !== undefined) leave(why);
          },
          () => {},
        );
      }),
    [leave, show],
  );
  const setSession = useCallback(
    (session: Session | undefined) => {
      if (session === undefined) leave('signed out');
      else show(session);
      tellOtherTabs();
    },
    [leave, show],
  );
  if (state === undefined) return null;
  if (state.session === undefined) return <SignInPage onSignedIn={setSession} why={state.why} />;
  return (
    <Context key={others} value={{ session: state.session, setSession }}>
      {children}
    </Context>
  );
}

interface PersonSessionProps {
  readonly session: Session;
  /** Called before the page is drawn if another user used this tab: removes what this one must not see. */
  readonly onOtherUser: () => void;
  readonly children: ReactNode;
}

/** For a page that acts as one person without a browser session, e.g. that of a link in a notification. */
export function PersonSession({ session, onOtherUser, children }: PersonSessionProps): ReactElement {
  useState(() => {
    if (rememberUser(session)) onOtherUser();
  });
  return <Context value={{ session, setSession: () => {} }}>{children}</Context>;
}

export function useSession(): SignedIn {
  const signedIn = useContext(Context);
  if (signedIn === undefined) throw new Error('useSession needs a RequireSession around it.');
  return signedIn;
}

/** True if the signed-in user has the scope, or a higher one. */
export function useMay(scope: 'admin' | 'write' | 'read'): boolean {
  const { scopes } = useSession().session;
  return RANK.slice(RANK.indexOf(scope)).some((one) => scopes.includes(one));
}

/** The signed-in user, as one who answers calls. */
export function useAnswerer(): Answerer {
  const { entity } = useSession().session;
  return { entityId: entity?.id, isOperator: useMay('write') };
}

const RANK = ['read', 'write', 'admin'] as const;

/** Requested once: a code that is sent twice is refused. */
let first: Promise<State> | undefined;

/**
 * A link has its code in the fragment, which no server sees. It is removed from the address first, because a code works
 * once. A user who opens the link again in the same browser is still signed in.
 */
async function firstSession(): Promise<State> {
  const code = new URLSearchParams(location.hash.slice(1)).get('in');
  if (code === null) return stateOf(await readSession());
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    const session = await signIn({ code });
    tellOtherTabs();
    return { session };
  } catch (refused) {
    return stateOf(await readSession(), { refused });
  }
}

const USER = 'lastcall.user';

/**
 * Remembers who signed in in this tab, and returns true if it was another user before. An operator without a person is known by the key, and
 * without a key by the session. The same session is the same user, who may act as another person.
 */
function rememberUser(session: Session | undefined): boolean {
  if (session === undefined) return false;
  const before = sessionStorage.getItem(USER);
  const [sessionId, user] = before?.split(' ') ?? [];
  if (sessionId === session.id) return false;
  const now = session.entity?.id ?? session.keyId ?? session.id;
  keepInTab(USER, `${session.id} ${now}`);
  return before !== null && user !== now;
}

function stateOf(session: Session | undefined, why?: { readonly refused: unknown }): State {
  return session === undefined ? { session, ...(why === undefined ? {} : { why }) } : { session };
}

async function readSession(): Promise<Session | undefined> {
  return await everywhere.session.get().catch((error: unknown) => {
    if (error instanceof ClientError && error.status === 401) return undefined;
    throw error;
  });
}

const CHANNEL = 'lastcall-session';

/**
 * Notifies the other tabs of this browser, which share the cookie, that a user signed in or out here, or acts as
 * another person.
 */
function tellOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('changed');
  channel.close();
}

/**
 * Calls back when another tab notifies, and when the user returns to this tab, which may have missed messages while it
 * slept.
 */
function onSessionChange(look: (ifGone: 'signed out' | 'ended') => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => look('signed out');
  const onVisible = (): void => {
    if (document.visibilityState === 'visible') look('ended');
  };
  document.addEventListener('visibilitychange', onVisible);
  return () => {
    channel.close();
    document.removeEventListener('visibilitychange', onVisible);
  };
}
